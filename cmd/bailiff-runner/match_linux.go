package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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

// hunt looks for the young files that match a pattern. It follows no link to a folder.
type hunt struct {
	since   time.Time
	found   wire.Matches
	entries int
	bytes   int
}

func matching(asked wire.Pattern) (wire.Matches, error) {
	if _, err := path.Match(asked.Pattern, ""); err != nil {
		return wire.Matches{}, err
	}
	h := &hunt{since: time.Now().Add(-asked.Within), found: wire.Matches{All: true}}
	h.below(seenFrom(asked.Dir, asked.Folder), "", strings.Split(asked.Pattern, "/"))
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
		h.entry(filepath.Join(folder, e.Name()), path.Join(name, e.Name()), e, parts)
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
		h.bytes += len(name)
		if len(h.found.Paths) == mostMatches || h.bytes > mostBytes {
			h.found.All = false
			return
		}
		h.found.Paths = append(h.found.Paths, name)
	}
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
