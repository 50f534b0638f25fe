// Package unpacked keeps the folders that a Python program fills from archives, in the order of its text.
//
// Here: [Folders], to which a folder is added with the number of commands that the program started before, and which says what lies in
// them. Promised: paths are compared as they are spelt, so that both sides have to be cleaned in the same way.
//
// Not here: how a program is read, and what is in an archive, which nothing here opens.
package unpacked

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Folders are those that a program fills from archives.
type Folders []folder

type folder struct {
	path     string
	commands int
}

// Add notes a folder that is filled after so many commands.
func (f *Folders) Add(path string, commands int) { *f = append(*f, folder{path, commands}) }

// Hold says that a file may be from an archive which was unpacked before the command of this number; the first is 0.
func (f Folders) Hold(file string, command int) bool {
	return slices.ContainsFunc(f, func(one folder) bool { return one.commands <= command && isBelow(file, one.path) })
}

// Origins say of which files a program may make those that it writes, and the folders' content: of all that it reads, moves or changes.
func (f Folders) Origins(reads, writes []string) (all []bailiff.Origin) {
	if len(reads) == 0 && len(writes) < 2 {
		return nil
	}
	from := value.Sorted(slices.Concat(reads, writes))
	for _, one := range f {
		all = append(all, bailiff.Origin{Path: one.path + "/", How: bailiff.Derived, From: from})
	}
	for _, p := range writes {
		all = append(all, bailiff.Origin{Path: p, How: bailiff.Derived, From: from})
	}
	return all[:min(len(all), value.MaxOrigins)]
}

// HoldModules says that modules of a folder may be from an archive, or that it is one.
func (f Folders) HoldModules(dir string) bool {
	return archives[path.Ext(dir)] || slices.ContainsFunc(f, func(one folder) bool { return isBelow(dir, one.path) })
}

// archives are the endings of archives from which Python imports.
var archives = value.SetOf(".zip .egg .whl .pyz")

// isBelow says that a path is that of a folder, or lies in it. The working folder of which nothing is known has every relative path.
func isBelow(p, dir string) bool {
	if dir == "" || dir == "." {
		return !path.IsAbs(p) && !strings.HasPrefix(p, "~") && !strings.HasPrefix(p, "..")
	}
	rest, is := strings.CutPrefix(p, strings.TrimSuffix(dir, "/"))
	return is && (rest == "" || rest[0] == '/')
}
