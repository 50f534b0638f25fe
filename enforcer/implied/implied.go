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
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Sandbox is where the files lie; a hold of one is.
type Sandbox interface {
	Digest(ctx context.Context, workdir string, paths []string) ([]bailiff.File, error)
	Read(ctx context.Context, workdir, path string, most int) (bailiff.Content, error)
	Match(ctx context.Context, workdir, pattern string, stems []string) (paths []string, all bool, err error)
}

// Files are what a place holds: their paths with the digests of what they do, and the names of those whose content an
// approval cannot hold.
type Files struct {
	Bound   []bailiff.File
	Unbound []string
}

// Modules are the files in a folder that Python takes for modules of its library, as far as a session may have made
// them; all is false where there may be more. A folder that the text does not tell has none.
func Modules(ctx context.Context, in Sandbox, workdir, folder string) (paths []string, all bool, err error) {
	if strings.Contains(folder, "$") {
		return nil, true, nil
	}
	if strings.ContainsAny(folder, "*?[") { // it may be several
		return nil, false, nil
	}
	all = true
	for _, pattern := range value.ShadowPatterns {
		matches, whole, err := in.Match(ctx, workdir, inFolder(folder, pattern), value.ShadowNames())
		if errors.Is(err, errors.ErrUnsupported) || ctx.Err() != nil {
			return nil, false, err
		}
		all = all && whole && err == nil
		for _, p := range matches {
			if value.Shadows(below(folder, p)) && !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	return paths, all, nil
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
		if folder, err := in.Digest(ctx, workdir, []string{at.Folder}); err == nil {
			files.Bound = append(files.Bound, folder...)
		} else {
			files.Unbound = append(files.Unbound, at.Folder)
		}
	}
	return files
}

// below is a path as seen from a folder that it lies in.
func below(folder, p string) string {
	if folder == "." {
		return strings.TrimPrefix(p, "./")
	}
	return strings.TrimPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}
