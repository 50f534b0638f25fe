// Package sights finds out which programs of a request are known where it runs, though no table knows them.
//
// Here: a look at the host and the project ([Sights.Look]), and what projects declared before sessions came there ([Sights.Note]).
//
// Promised: what cannot be looked at is not known. What a project declares is its own as it was, by its content, before the first session
// came to it or to a folder around it, also for the next run of the sidecar.
//
// Not here: which programs a text calls (package facts); what is asked about the others (the policies); folders that a program changes
// without its text naming them.
package sights

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/internal/project/manifest"
)

// installer knows what root has installed on this machine.
type installer interface{ Installed(name string) bool }

// reader reads the files of a host.
type reader interface {
	Read(ctx context.Context, workdir, path string, most int) (bailiff.Content, error)
	Digest(ctx context.Context, workdir string, paths []string) ([]bailiff.File, error)
}

// Look is what a host knows of some programs, which are names and paths of files, of a request in a folder. It is told by the ground:
// known are those that root installed, that the project around them declared, or that are not there and run nothing. On is nil
// where the host is another machine, of which the sidecar sees nothing but files.
func (s *Sights) Look(ctx context.Context, folder string, on installer, files reader, programs []string) (ground bailiff.Ground) {
	h := host{folder: folder, on: on, declared: s.declared,
		read: func(path string) (bailiff.Content, error) { return files.Read(ctx, folder, path, 0) }}
	ground.Sought, ground.Host = true, s.host
	for _, name := range programs {
		if on != nil && !strings.Contains(name, "/") && on.Installed(name) || strings.Contains(name, "/") && h.hasFile(name) {
			ground.Known = append(ground.Known, name)
			continue
		}
		place := h.find(name)
		if digests, err := files.Digest(ctx, folder, []string{place}); err == nil && len(digests) == 1 {
			ground.Unknown = append(ground.Unknown, bailiff.File{Path: name, SHA256: digests[0].SHA256})
		}
	}
	return ground
}

// host is where a request runs.
type host struct {
	// folder is the absolute working folder.
	folder string
	// on is nil where the host is another machine.
	on installer
	// read says what is at a path.
	read func(path string) (bailiff.Content, error)
	// declared are the files of the project of a root folder.
	declared func(root string) manifest.Declared
}

// hasFile says that a file is none of an unknown program.
func (h host) hasFile(name string) bool {
	if strings.ContainsAny(name, `$*?[\`) || strings.HasPrefix(name, "~") && !strings.HasPrefix(name, "~/") {
		return false // it stands for other paths
	}
	content, err := h.read(name)
	switch {
	case err != nil:
		return false
	case content.Kind == bailiff.ContentMissing:
		return true
	}
	path := resolved(absolute(h.folder, name))
	root, isProject := manifest.Root(filepath.Dir(path))
	return h.isInstalled(path, name) || h.on != nil && isProject && h.declared(root).Has(root, path)
}

// isInstalled says that a file is the program that commands find by its name, root installed it, and it is not called by the name of
// another, as which its words would be read.
func (h host) isInstalled(path, as string) bool {
	folder, name := filepath.Split(path)
	return h.on != nil && version.ReplaceAllString(name, "") == version.ReplaceAllString(filepath.Base(as), "") &&
		slices.Contains(filepath.SplitList(wire.SearchPath), filepath.Clean(folder)) && h.on.Installed(name)
}

// version is what a link to a program may leave out of its name.
var version = regexp.MustCompile(`[-.0-9]+$`)

// find is the file of a program: the first one under a name where commands find theirs.
func (h host) find(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for _, folder := range filepath.SplitList(wire.SearchPath) {
		if content, err := h.read(folder + "/" + name); err != nil || content.Kind != bailiff.ContentMissing {
			return folder + "/" + name
		}
	}
	return name
}

// resolved is a path without links, as it is where these cannot be followed.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// absolute is a path as seen from the root. Commands on a host run as the user of this process, and have its home folder.
func absolute(folder, path string) string {
	home, err := os.UserHomeDir()
	below, isOfHome := strings.CutPrefix(path, "~/")
	switch {
	case isOfHome && err == nil:
		return filepath.Join(home, below)
	case filepath.IsAbs(path), isOfHome:
		return path
	}
	return filepath.Join(folder, path)
}
