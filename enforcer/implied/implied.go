// Package implied finds the files that programs run, or are led by, without a request's text naming them: git's settings
// and hooks, files that Python takes for modules of its library, folders of libraries.
//
// Promised: nothing is run, git neither; what is looked at is bounded; a place that cannot be looked at to its end is
// told as unbound.
//
// Not here: which programs look where (internal/facts), and what the files say (internal/facts, internal/pdp).
package implied

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Sandbox is where the files lie; a hold of one is.
type Sandbox interface {
	Digest(ctx context.Context, workdir string, paths []string) ([]bailiff.File, error)
	Read(ctx context.Context, workdir, path string, most int) (bailiff.Content, error)
	Match(ctx context.Context, workdir, pattern string) (paths []string, all bool, err error)
}

// Files are what a place holds: their paths with the digests of what they do, and the names of those whose content an
// approval cannot hold.
type Files struct {
	Bound   []bailiff.File
	Unbound []string
}

// Modules are the files in some places that Python takes for modules of its library, as far as a session may have made
// them. A pattern among them stands for files that could not be looked at.
func Modules(ctx context.Context, in Sandbox, workdir string, places []bailiff.Implied) (paths []string, err error) {
	for _, at := range places {
		if at.Kind != bailiff.ImpliedModules {
			continue
		}
		for _, pattern := range value.ShadowPatterns {
			found, all, err := in.Match(ctx, workdir, inFolder(at.Folder, pattern))
			if errors.Is(err, errors.ErrUnsupported) || ctx.Err() != nil {
				return nil, err
			}
			if !all || err != nil {
				paths = append(paths, inFolder(at.Folder, pattern))
			}
			for _, p := range found {
				if value.Shadows(below(at.Folder, p)) {
					paths = append(paths, p)
				}
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// Folders are those of some places in which programs may find anything. Installed packages are too many to be bound.
func Folders(ctx context.Context, in Sandbox, workdir string, places []bailiff.Implied) (files Files) {
	for _, at := range places {
		switch at.Kind {
		case bailiff.ImpliedPackages:
			files.Unbound = append(files.Unbound, "the packages of "+at.Folder)
			continue
		case bailiff.ImpliedFiles:
		default:
			continue
		}
		if found, err := in.Digest(ctx, workdir, []string{at.Folder}); err == nil {
			files.Bound = append(files.Bound, found...)
		} else {
			files.Unbound = append(files.Unbound, at.Folder)
		}
	}
	return files
}

func inFolder(folder, name string) string {
	if folder == "." {
		return name
	}
	return folder + "/" + name
}

// below is a path as seen from a folder that it lies in.
func below(folder, p string) string {
	if folder == "." {
		return strings.TrimPrefix(p, "./")
	}
	return strings.TrimPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// seen is a path that a file names which lies in a folder.
func seen(from, p string) string {
	if path.IsAbs(p) || p == "~" || strings.HasPrefix(p, "~/") {
		return p
	}
	return inFolder(from, p)
}
