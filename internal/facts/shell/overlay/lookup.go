package overlay

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// Lookup is what was found in a file, by its path as it is to be opened. A file that is being
// read is not read again.
func (fs *FS) Lookup(file string) (word.Stream, bool) {
	if fs.At.Contents == nil || slices.Contains(fs.Around(), file) {
		return word.Stream{}, false
	}
	c, ok := (*fs.At.Contents)[file]
	if above := fs.above(file); !ok && above != file {
		return fs.Lookup(above)
	}
	if c.Folder {
		return word.Stream{}, false
	}
	return word.Stream{Present: true, Text: c.Text, Known: c.Known, File: file, OnDisk: ok, Settled: !c.Recent}, ok
}

// Around are the files that the text lies in.
func (fs *FS) Around() []string {
	if fs.At.Within == nil {
		return fs.within
	}
	return slices.Concat(*fs.At.Within, fs.within)
}

// ReadIn reads what a stream runs. If it was found in a file that is settled, a part whose
// meaning its text does not tell hides nothing: it is a part of the project like any other. That
// does not hold for a young file that it runs.
func (fs *FS) ReadIn(s word.Stream, read func()) {
	if !s.OnDisk {
		read()
		return
	}
	settled := fs.Settled
	fs.Settled, fs.within = s.Settled, append(fs.within, s.File)
	read()
	fs.Settled, fs.within = settled, fs.within[:len(fs.within)-1]
}

// Outside reads something as if the innermost of the files that are being read were not.
func (fs *FS) Outside(read func()) {
	within := fs.within
	fs.within = slices.Clip(within[:len(within)-1])
	read()
	fs.within = within
}

// Innermost is the file that is being read, if the text lies in one.
func (fs *FS) Innermost() (file string, ok bool) {
	if len(fs.within) == 0 {
		return "", false
	}
	return fs.within[len(fs.within)-1], true
}

// Gather reads the files in a folder whose names match the patterns by which a program finds what it runs. A file that
// was made lately is found by its pattern; an older one is a part of the project like any other.
func (fs *FS) Gather(patterns []string, folder word.Word, sc *state.Scope, run func(file string, s word.Stream)) {
	for _, pattern := range patterns {
		fs.GatherBy(word.InFolder(folder, pattern), sc, run)
	}
}

// GatherBy reads the files of one pattern. Those that the text wrote are known by their paths.
func (fs *FS) GatherBy(pattern word.Word, sc *state.Scope, run func(file string, s word.Stream)) {
	at, written := fs.FileAt(pattern, sc), fs.At.Path(pattern.Text, sc.Folder)
	if at == "" || !fs.Spend(1) {
		return
	}
	fs.LookUps, fs.Modules = append(fs.LookUps, at), append(fs.Modules, at)
	for _, file := range slices.Sorted(maps.Keys(fs.contents)) {
		if s := fs.contents[file]; (matches(at, file) || matches(written, file)) && fs.Spend(1) {
			run(file, s)
		}
	}
	fs.gatherDisk(at, run)
}

// EachMatch reads the files that a word may name which is run and stands for names, such as the variable of a loop over
// "*.sh".
func (fs *FS) EachMatch(w word.Word, sc *state.Scope, run func(file string, s word.Stream)) {
	if word.HasWildcard(w.Text) {
		fs.GatherBy(w, sc, run)
	}
}

// gatherDisk reads the files that were found by a pattern.
func (fs *FS) gatherDisk(at string, run func(file string, s word.Stream)) {
	if fs.At.Contents == nil {
		return
	}
	for _, file := range slices.Sorted(maps.Keys(*fs.At.Contents)) {
		if s, ok := fs.Lookup(file); ok && file != at && matches(at, file) && fs.Spend(1) {
			fs.Files = append(fs.Files, file)
			fs.ReadIn(s, func() { run(file, s) })
		}
	}
	if s, ok := fs.Lookup(at); ok { // there are too many
		fs.ReadIn(s, fs.Hide)
	}
}

// matches says whether a path is one that a pattern finds.
func matches(pattern, file string) bool {
	return matchParts(strings.Split(pattern, "/"), strings.Split(file, "/"))
}

func matchParts(pattern, file []string) bool {
	switch {
	case len(pattern) == 0 || len(file) == 0:
		return len(pattern)+len(file) == 0
	case pattern[0] != "**":
		fits, _ := path.Match(pattern[0], file[0])
		return fits && matchParts(pattern[1:], file[1:])
	}
	return matchParts(pattern[1:], file) || matchParts(pattern, file[1:])
}

// ProjectFile is the file of the project around a folder: in that, or in the nearest above that has one.
func (fs *FS) ProjectFile(project string, sc *state.Scope) word.Word {
	here := word.Of(project)
	if fs.At.Contents == nil {
		return here
	}
	for dir, above := sc.Folder, here; ; above = word.Of(path.Join(dir, project)) {
		_, ok := fs.Program(fs.Path(above, sc), fs.FileAt(above, sc))
		if _, again := fs.Current(fs.FileAt(above, sc)); ok || again {
			return above
		}
		fs.Files = append(fs.Files, fs.FileAt(above, sc))
		up := path.Dir(dir)
		if dir == "" || dir == "~" || up == dir {
			return here
		}
		dir = up
	}
}

// Current is what was found in a file that is being read.
func (fs *FS) Current(file string) (word.Stream, bool) {
	if fs.At.Contents == nil || !slices.Contains(fs.within, file) {
		return word.Stream{}, false
	}
	c, ok := (*fs.At.Contents)[file]
	return word.Stream{Present: true, Text: c.Text, Known: c.Known, File: file, OnDisk: true, Settled: !c.Recent}, ok
}
