package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// mostMatches bounds what a pattern finds, so that the answer is one frame, and mostEntries what is looked at for it.
const (
	mostMatches = 128
	mostBytes   = wire.MaxPayload / 2
	mostEntries = 50_000
)

// hunt looks for the young files that match a pattern. It follows no link to a folder but those of stems.
type hunt struct {
	since   time.Time
	stems   map[string]bool
	found   wire.Matches
	entries int
	bytes   int
}

// Match finds the files that match a pattern.
func Match(asked wire.Pattern) (wire.Matches, error) {
	if _, err := path.Match(asked.Pattern, ""); err != nil {
		return wire.Matches{}, err
	}
	h := &hunt{since: time.Now().Add(-asked.Within), found: wire.Matches{All: true}}
	folder, parts := seenFrom(asked.Dir, asked.Folder), strings.Split(asked.Pattern, "/")
	if len(asked.Stems) == 0 {
		h.below(folder, "", parts)
		return h.found, nil
	}
	h.stems = map[string]bool{}
	for _, stem := range asked.Stems {
		h.stems[stem] = true
	}
	h.named(folder, parts)
	return h.found, nil
}

// below looks in a folder for what the parts of a pattern match.
func (h *hunt) below(folder, name string, parts []string) {
	if parts[0] == "**" {
		h.below(folder, name, parts[1:])
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
		h.found.All = false
	}
	for _, e := range entries {
		if h.entries++; h.entries > mostEntries || !h.found.All {
			h.found.All = false
			return
		}
		h.entry(folder+"/"+e.Name(), path.Join(name, e.Name()), e, parts)
	}
}

func (h *hunt) entry(at, name string, e fs.DirEntry, parts []string) {
	fits, _ := path.Match(parts[0], e.Name())
	switch {
	case parts[0] == "**":
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "node_modules" {
			h.below(at, name, parts)
		}
	case !fits:
	case len(parts) > 1:
		if e.IsDir() {
			h.below(at, name, parts[1:])
		}
	case !e.IsDir() && h.isYoung(at):
		h.tell(name)
	}
}

func (h *hunt) tell(name string) {
	h.bytes += len(name)
	if len(h.found.Paths) == mostMatches || h.bytes > mostBytes {
		h.found.All = false
		return
	}
	h.found.Paths = append(h.found.Paths, name)
}

// named looks in a folder for the entries of stems, which are so few that a folder may have any number of others.
func (h *hunt) named(folder string, parts []string) {
	f, err := os.OpenFile(folder, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		h.found.All = errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
		return
	}
	defer func() { _ = f.Close() }()
	for h.found.All {
		names, err := f.Readdirnames(4096)
		for _, name := range names {
			stem, _, _ := strings.Cut(name, ".")
			if fits, _ := path.Match(parts[0], name); fits && h.stems[stem] {
				h.stem(folder+"/"+name, name, parts[1:])
			}
		}
		if err != nil || len(names) == 0 {
			h.found.All = h.found.All && errors.Is(err, io.EOF)
			return
		}
	}
}

// stem looks at an entry of a stem, or for what is left of a pattern in it. A folder that was moved or linked there lately has old
// files in it, which are new at this place.
func (h *hunt) stem(at, name string, parts []string) {
	if len(parts) == 0 {
		if h.isYoung(at) {
			h.tell(name)
		}
		return
	}
	if about, err := os.Stat(at); err != nil || !about.IsDir() {
		return
	}
	since := h.since
	if h.isMoved(at) {
		h.since = time.Unix(0, 0)
	}
	h.below(at, name, parts)
	h.since = since
}

// isMoved says that a folder, or a link to one, was changed, moved or made lately.
func (h *hunt) isMoved(at string) bool {
	var link, folder unix.Stat_t
	return unix.Lstat(at, &link) != nil || unix.Stat(at, &folder) != nil || max(link.Ctim.Nano(), folder.Ctim.Nano()) > h.since.UnixNano()
}

// isYoung says that a file, or what it is a link to, was made lately.
func (h *hunt) isYoung(at string) bool {
	var link, file unix.Stat_t
	if unix.Lstat(at, &link) != nil {
		return false
	}
	if unix.Stat(at, &file) != nil {
		file = link
	}
	return file.Mode&unix.S_IFMT != unix.S_IFDIR && max(link.Ctim.Nano(), file.Ctim.Nano()) > h.since.UnixNano()
}
