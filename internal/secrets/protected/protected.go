// Package protected keeps those files of a host folder as they were by which programs start
// later, while commands in a sandbox may write the folder.
//
// The files are named by patterns relative to the folder: ".mcp.json" is a file, ".claude/" a
// folder, and "*" stands for one whole part of a path. A folder that is there when a sandbox is
// opened is shown in it read-only ([Folders]). Everything else is compared before and after each
// command ([Keeper.Watch]), and in between ([Watch.Look]), also what is not there yet.
//
// Two patterns say more, since git starts programs by settings that lie in many places. With
// ".git" the settings inside that folder count that no other pattern names: commondir, those of
// submodules and linked worktrees at any depth, and lines of a rebase that run something. With
// "**/.git" every other repository below the folder counts too, bare ones included, and so do the
// entries of git's index that name one. Of a sandbox in which git goes on all the same, a repository that is new is taken to where the
// user's git does not find it (internal/project/nested). What git writes there by itself in everyday work stays: a
// new repository whose settings start nothing, a rebase that only picks commits ([survey]).
//
// With another "**/" a file counts in each folder, but for those of installed packages: "**/.npmrc",
// "**/.vscode/tasks.json", "**/*.code-workspace". A copy of one that was there before stays ([anyDepth]).
// Where links in protected places lead within the folder, and what git's settings name, counts for the
// pattern that led there ([further]).
//
// A [walk] through the folder finds what lies at any depth. It holds while the kernel tells of no name
// that counts, where it tells of all; where it may not, each look walks.
//
// What was put back is remembered with both versions, so that a person may take the changed one
// ([Keeper.Adopt]).
//
// Promised: what is there is compared by content, never by times; a change is put back at the
// latest at the end of what was watched; what a command left in a protected place has ".refused" in
// its name, and nothing is removed to make room for it: of one place the first 20 stay, and of those
// after them the latest 20; a folder that a command closed is opened again; what could not be put
// back is not forgotten, so that nothing is watched anew before it is; no link leads out of the
// folder; what cannot be compared is an error before anything runs.
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

	"github.com/bailiff-dev/bailiff"
)

const (
	// maxFile is how many bytes of a file are kept so that it can be put back.
	maxFile = 1 << 20
	// maxLarge is how many bytes a hook or another setting of git may have that is there: a larger
	// one than maxFile is compared, and cannot be put back.
	maxLarge = 64 << 20
	// maxMatches is how many names a "*" may stand for, and how many a folder of settings may hold.
	maxMatches = 1000
	// suffix is in the name of what a command left in a protected place.
	suffix = ".refused"
	// repository is the pattern of the repository that the folder is.
	repository = ".git"
	// repositories is the pattern of those below it.
	repositories = bailiff.Repositories
)

// Folders are the folders of a source that patterns name, or lead to, and that are there: relative and
// sorted, without those that lie in another. A source that cannot be read has none.
func Folders(source string, patterns []string) (found []string) {
	root, err := os.OpenRoot(source)
	if err != nil {
		return nil
	}
	defer root.Close()
	all := sortedNames(furtherOf(root, source, patterns))
	for _, pattern := range patterns {
		if isFolder(pattern) {
			names, err := expand(root, pattern)
			if err == nil { // else [Keeper.Watch] says why
				all = append(all, names...)
			}
		}
	}
	slices.Sort(all)
	for _, name := range all {
		isInside := slices.ContainsFunc(found, func(above string) bool { return isAround(above, name) })
		if now, err := look(root, name); err == nil && now.kind == folder && !isInside {
			found = append(found, name)
		}
	}
	return found
}

func isFolder(pattern string) bool { return strings.HasSuffix(pattern, "/") }

// unlisted is the fault of a folder whose names cannot be told.
type unlisted struct {
	folder string
	why    error
}

func (e unlisted) Error() string { return e.why.Error() }

func (e unlisted) Unwrap() error { return e.why }

// expand lists the names that a pattern stands for in a folder; one without "*" stands for
// itself, whether it is there or not. What counts at any depth is found by a [survey].
func expand(root *os.Root, pattern string) ([]string, error) {
	if strings.HasPrefix(pattern, bailiff.AnyDepth) {
		return nil, nil
	}
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
			for _, one := range inside {
				if !strings.Contains(one.Name(), suffix) {
					next = append(next, path.Join(name, one.Name()))
				}
			}
		}
		names = next
	}
	return names, nil
}

// list is what lies in a folder; in what is none, nothing.
func list(root *os.Root, name string) ([]os.DirEntry, error) {
	if now, err := look(root, name); err != nil || now.kind != folder {
		return nil, err
	}
	dir, err := openFolder(root, name)
	if err != nil {
		if isMissing(err) {
			return nil, nil
		}
		return nil, unlisted{name, fmt.Errorf("opening %s: %w", name, err)}
	}
	defer dir.Close()
	inside, err := dir.ReadDir(maxMatches + 1)
	switch {
	case len(inside) > maxMatches:
		return nil, unlisted{name, fmt.Errorf("%s holds more than %d names", name, maxMatches)}
	case len(inside) == 0:
		return nil, nil // io.EOF
	case err != nil:
		return nil, unlisted{name, fmt.Errorf("listing %s: %w", name, err)}
	}
	return inside, nil
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
