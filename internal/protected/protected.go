// Package protected keeps those files of a host folder as they were by which programs start
// later, while commands in a sandbox may write the folder.
//
// The files are named by patterns relative to the folder: ".mcp.json" is a file, ".claude/" a
// folder, and "*" stands for one whole part of a path. A folder that is there when a sandbox is
// opened is shown in it read-only ([Folders]). Everything else is compared before and after
// each command ([Keeper.Watch]), also what is not there yet.
//
// Promised: a change is put back at the end of what was watched; what a command left in a
// protected place is not lost, it has ".refused" at the end of its name; no link leads out of
// the folder; what cannot be compared is an error before anything runs.
//
// Not here: which changes people were asked about (the policies leave these patterns out), and
// the mounts themselves (backends). Which of several commands made a change is not known: what
// the user of the folder changes while a command runs counts as its change.
package protected

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	// maxFile is how many bytes of a file are kept so that it can be put back.
	maxFile = 1 << 20
	// maxMatches is how many names a "*" may stand for.
	maxMatches = 1000
	// suffix ends the name of what a command left in a protected place.
	suffix = ".refused"
)

// Folders are the folders of a source that patterns name, and that are there: relative and
// sorted. A source that cannot be read has none.
func Folders(source string, patterns []string) (found []string) {
	root, err := os.OpenRoot(source)
	if err != nil {
		return nil
	}
	defer root.Close()
	for _, pattern := range patterns {
		if !isFolder(pattern) {
			continue
		}
		names, err := expand(root, pattern)
		if err != nil {
			continue // [Keeper.Watch] says why
		}
		for _, name := range names {
			if now, err := look(root, name); err == nil && now.kind == folder {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func isFolder(pattern string) bool { return strings.HasSuffix(pattern, "/") }

// expand lists the names that a pattern stands for in a folder; one without "*" stands for
// itself, whether it is there or not.
func expand(root *os.Root, pattern string) ([]string, error) {
	names := []string{""}
	for part := range strings.SplitSeq(strings.TrimSuffix(pattern, "/"), "/") {
		var next []string
		for _, name := range names {
			if part != "*" {
				next = append(next, path.Join(name, part))
				continue
			}
			inside, err := list(root, name)
			if err != nil {
				return nil, err
			}
			next = append(next, inside...)
		}
		names = next
	}
	return names, nil
}

// list names what lies in a folder; of what is none, nothing.
func list(root *os.Root, name string) (found []string, err error) {
	if now, err := look(root, name); err != nil || now.kind != folder {
		return nil, err
	}
	dir, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	defer dir.Close()
	inside, err := dir.Readdirnames(maxMatches + 1)
	if len(inside) > maxMatches {
		return nil, fmt.Errorf("%s holds more than %d names", name, maxMatches)
	}
	for _, one := range inside {
		if !strings.HasSuffix(one, suffix) {
			found = append(found, path.Join(name, one))
		}
	}
	if len(inside) == 0 {
		err = nil // io.EOF
	}
	return found, err
}

// parents are the folders above a name, the highest first.
func parents(name string) (all []string) {
	for i, c := range name {
		if c == '/' {
			all = append(all, name[:i])
		}
	}
	return all
}

// isMissing says that a name leads nowhere, or through something that is no folder.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFolder)
}
