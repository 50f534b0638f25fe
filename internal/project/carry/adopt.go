package carry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/project/nested"
	"github.com/bailiff-dev/bailiff/internal/project/private"
	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

// nestedMounts show where the git directories are that commands make within a folder.
func (r *Repositories) nestedMounts(dir string, u backends.User) []bailiff.Mount {
	if r.run == nil || u.UID != os.Geteuid() {
		return nil
	}
	kept := nested.Of(r.state, dir)
	if err := os.MkdirAll(kept.Folder, 0o700); err != nil {
		r.warn(dir, err)
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nested[kept.Folder] == nil {
		r.nested[kept.Folder] = &place{Place: kept, project: dir}
	}
	return []bailiff.Mount{kept.Mount()}
}

// place is where git directories of one project's folder are kept.
type place struct {
	nested.Place
	project string
	swept   time.Time
}

// sweepEach is how often it is looked whether anything leads to what is kept.
const sweepEach = 24 * time.Hour

// sweep removes git directories that commands made in folders that are gone.
func (r *Repositories) sweep(folders []string) {
	for _, folder := range folders {
		r.mu.Lock()
		p := r.nested[folder]
		isDue := p != nil && time.Since(p.swept) >= sweepEach
		if isDue {
			p.swept = time.Now()
		}
		r.mu.Unlock()
		if !isDue {
			continue
		}
		if err := p.Sweep(p.project, time.Now()); err != nil {
			r.log.Warn("what is kept of repositories that commands made stays", "error", err)
		}
	}
}

// mostConfig is how many bytes of settings a repository that is copied may have.
const mostConfig = 1 << 20

// Copy makes a git directory in an empty folder from a kept one that commands made and that none writes any more: objects that git
// takes strictly, branches, tags, the stash, HEAD, the index, and those settings that start nothing. Hooks stay behind.
func (r *Repositories) Copy(kept, fresh string) error {
	if r.run == nil {
		return errNoKeeper
	}
	if info, err := os.Lstat(kept); err != nil || !info.IsDir() {
		return cmp.Or(err, errors.New("its .git is a file, which leads to a repository of the sandbox's"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), stepTimeout)
	defer cancel()
	said, err := r.settingsOf(ctx, kept)
	if err != nil {
		return err
	}
	from, err := repository.Open(kept, kept)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(fresh)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := private.MakeCopy(to, said); err != nil {
		return err
	}
	if err := r.copyObjects(ctx, kept, fresh); err != nil {
		return err
	}
	if err := copyState(from, to, private.HashOf(said)); err != nil {
		return err
	}
	b := large{from: from.Git, to: to, wrong: map[string]version{}, left: mostLargeBytes}
	return b.bring(ctx)
}

// settingsOf are the settings of a kept git directory, as git lists them.
func (r *Repositories) settingsOf(ctx context.Context, kept string) (string, error) {
	var said strings.Builder
	err := r.run.Run(ctx, keeper.Job{Binds: []keeper.Bind{{Source: kept, Target: "/from"}}, Stdout: &said, MaxOutput: mostConfig,
		Args: []string{"git", "config", "--file", "/from/config", "--no-includes", "--list", "-z"}})
	if err != nil {
		return "", fmt.Errorf("reading its settings: %w", err)
	}
	return said.String(), nil
}

// copyObjects brings all objects that a name leads to.
func (r *Repositories) copyObjects(ctx context.Context, kept, fresh string) error {
	const pack = "/to/objects/in.pack"
	script := gitOn("/from", "pack-objects", "-q", "--all", "--reflog", "--indexed-objects", "--stdout") + " </dev/null >" + pack +
		" && " + gitOn("/to", "index-pack", "--stdin", "--strict", fmt.Sprint("--max-input-size=", mostInput)) + " <" + pack +
		" >/dev/null && rm " + pack
	err := r.run.Run(ctx, keeper.Job{Binds: []keeper.Bind{{Source: kept, Target: "/from"}, {Source: fresh, Target: "/to", Writable: true}},
		Dir: "/to", Args: []string{"sh", "-ec", script}})
	if err != nil {
		return errors.New(reason(err))
	}
	return nil
}

// copyState brings what a git directory says beside its objects.
func copyState(from repository.Dirs, to *os.Root, hash int) error {
	s, err := from.State(hash)
	if err != nil {
		return err
	}
	if going := cmp.Or(s.Unfinished, merging(s)); going != "" {
		return fmt.Errorf("a %s goes on in it: have it finished or aborted first", going)
	}
	index, err := from.Index(hash)
	if err != nil {
		return err
	}
	maps.DeleteFunc(s.Refs, func(name, _ string) bool { return !comesIn(name) })
	files := map[string]string{"HEAD": s.Head + "\n"}
	if len(index.Text) > 0 {
		files["index"] = string(index.Text)
	}
	text, err := repository.Read(from.Git, "shallow", mostConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if repository.IsHash(strings.TrimSpace(line), hash) {
			files["shallow"] += line
		}
	}
	err = nil
	for name, text := range files {
		err = errors.Join(err, private.Write(to, name, []byte(text), 0o600))
	}
	return errors.Join(err, writeRefs(to, s.Refs, nil), writeStash(to, s.Stash, hash))
}

// merging says in one word what waits in a repository for a commit; empty if nothing does.
func merging(s repository.State) string {
	for name, word := range map[string]string{"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "pick", "REVERT_HEAD": "revert"} {
		if s.Notes[name] != "" {
			return word
		}
	}
	return ""
}
