// Package caches keeps what the tools of a project fetched and built, so that a new sandbox need not do it again: a folder for
// each tool, of one holder, which is a user with the projects that a sandbox works on.
//
// Promised: no folder is shown to two holders, since a command can put into one what the tool of a later command runs: of the
// tools in the list none checks all that it finds. Nothing outside of sandboxes reads one. A folder that cannot be made, or in
// whose place a link stands, is an error that names it. What a holder, and what all of them, may keep is bounded.
//
// Not here: who a holder is, and how a sandbox shows a folder.
package caches

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/host/removal"
	"github.com/bailiff-dev/bailiff/internal/host/usage"
)

const (
	// home is that of programs in a sandbox.
	home = "/home"
	// unusedFor is when the caches of a holder go. No sandbox lives so long.
	unusedFor = 30 * 24 * time.Hour
	// tidyPatience bounds one look at all caches.
	tidyPatience = 2 * time.Minute
)

//go:embed caches.txt
var list string

// tool is one that has a cache.
type tool struct{ name, path string }

var tools = sync.OnceValue(func() (all []tool) {
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] != "#" {
			all = append(all, tool{fields[0], fields[1]})
		}
	}
	return all
})

// Caches are those of one sidecar.
type Caches struct {
	dir string
	// each and all are the most bytes of a holder, and of all holders; files are the most of a holder.
	each, all, files int64

	mu sync.Mutex // held while caches are made, or taken away
}

// New keeps caches in a folder that is for nothing else.
func New(dir string) *Caches {
	return &Caches{dir: dir, each: 8 << 30, all: 32 << 30, files: 1_000_000}
}

// Show makes what is not there yet of the caches of a holder, for the user of a sandbox, and says how they are shown beside its
// mounts: a tool whose folder is among these has what they show.
func (c *Caches) Show(holder []string, mounts []bailiff.Mount, u backends.User) (all []bailiff.Mount, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(c.dir), 0o711); err != nil {
		return nil, refusal(err)
	}
	sum := sha256.Sum256([]byte(strings.Join(holder, "\x00")))
	place := filepath.Join(c.dir, hex.EncodeToString(sum[:12]))
	for _, folder := range []string{c.dir, place} {
		if err := makeFolder(folder, 0o711, os.Geteuid(), os.Getegid()); err != nil {
			return nil, err
		}
	}
	for _, t := range tools() {
		at, target := filepath.Join(place, t.name), path.Join(home, t.path)
		if backends.Overlaps(mounts, target) {
			continue
		}
		if err := makeFolder(at, 0o700, u.UID, u.GID); err != nil {
			return nil, err
		}
		all = append(all, bailiff.Mount{Source: at, Target: target})
	}
	now := time.Now()
	return all, os.Chtimes(place, now, now)
}

// makeFolder makes a folder of a user's, or finds the one that is there fit. Its parent is one that no sandbox shows.
func makeFolder(path string, mode fs.FileMode, uid, gid int) error {
	err := os.Mkdir(path, mode)
	if err == nil && os.Geteuid() == 0 {
		err = os.Lchown(path, uid, gid)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return refusal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return refusal(err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != uid {
		return refusal(fmt.Errorf("%s is no folder of uid %d: look at what stands there and remove it", path, uid))
	}
	return os.Chmod(path, mode) // a command may have closed it
}

func refusal(err error) error {
	return fmt.Errorf("%w: the caches of the project's tools cannot be shown: %w", backends.ErrUnavailable, err)
}

// holding is what a holder keeps.
type holding struct {
	place string
	used  time.Time
	bytes int64
}

// Tidy removes the caches of holders that have not used them for long, and empties those of the others that are beyond their
// bounds, the largest first; beyond the bound of all, those that were not used for the longest time. Tools fetch and build anew
// then.
func (c *Caches) Tidy(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, tidyPatience)
	defer cancel()
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking at the caches: %w", err)
	}
	var kept []holding
	var faults []error
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.IsDir() {
			continue // Show says what is wrong with it
		}
		h := holding{place: filepath.Join(c.dir, entry.Name()), used: info.ModTime()}
		if now.Sub(h.used) > unusedFor || strings.HasSuffix(h.place, unused) {
			faults = append(faults, c.remove(ctx, h.place, now))
			continue
		}
		h.bytes, err = c.shrink(ctx, h.place, c.each)
		faults = append(faults, err)
		kept = append(kept, h)
	}
	slices.SortFunc(kept, func(a, b holding) int { return b.used.Compare(a.used) })
	left := c.all
	for _, h := range kept {
		if left -= h.bytes; left < 0 {
			_, err := c.shrink(ctx, h.place, 0)
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// unused ends the names of caches that are being removed, which no holder finds.
const unused = ".unused"

// remove removes the caches of a holder, unless they are used again.
func (c *Caches) remove(ctx context.Context, place string, now time.Time) error {
	aside := strings.TrimSuffix(place, unused) + unused
	if place != aside {
		c.mu.Lock()
		info, err := os.Lstat(place)
		isUsed := err == nil && now.Sub(info.ModTime()) <= unusedFor
		if err == nil && !isUsed {
			err = os.Rename(place, aside)
		}
		c.mu.Unlock()
		if err != nil || isUsed {
			return err
		}
	}
	return removal.All(ctx, aside)
}

// weight is what a cache holds.
type weight struct {
	path string
	usage.Usage
}

// shrink empties caches of a holder, the largest first, until the others are within a bound, and says how large these are.
func (c *Caches) shrink(ctx context.Context, place string, most int64) (bytes int64, err error) {
	var all []weight
	var files int64
	for _, t := range tools() {
		w := c.weightOf(ctx, filepath.Join(place, t.name))
		all, bytes, files = append(all, w), bytes+w.Bytes, files+w.Files
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	slices.SortFunc(all, func(a, b weight) int { return cmp.Compare(b.Bytes, a.Bytes) })
	var faults []error
	for _, w := range all {
		if bytes <= most && files <= c.files || w.Files == 0 {
			break
		}
		faults = append(faults, removal.Contents(ctx, w.path))
		bytes, files = bytes-w.Bytes, files-w.Files
	}
	return bytes, errors.Join(faults...)
}

// weightOf says how large a cache is; a cache that cannot be looked through is larger than any bound.
func (c *Caches) weightOf(ctx context.Context, cache string) weight {
	// Beyond the bound of all, too, the largest go first.
	u, err := usage.Of(ctx, cache, usage.Usage{Bytes: math.MaxInt64, Files: c.files})
	if err != nil {
		u = usage.Usage{Bytes: c.each + 1, Files: c.files + 1}
	}
	return weight{cache, u}
}
