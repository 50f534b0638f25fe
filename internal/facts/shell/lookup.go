package shell

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// foundIn is what was found in a file, by its path as it is to be opened. A file that is being
// read is not read again.
func (fs *overlay) foundIn(file string) (stream, bool) {
	if fs.at.Contents == nil || slices.Contains(fs.around(), file) {
		return stream{}, false
	}
	c, ok := (*fs.at.Contents)[file]
	if above := fs.aboveMade(file); !ok && above != file {
		return fs.foundIn(above)
	}
	if c.Folder {
		return stream{}, false
	}
	return stream{present: true, text: c.Text, known: c.Known, file: file, found: ok, settled: !c.Recent}, ok
}

// around are the files that the text lies in.
func (fs *overlay) around() []string {
	if fs.at.Within == nil {
		return fs.within
	}
	return slices.Concat(*fs.at.Within, fs.within)
}

// reading reads what a stream runs. If it was found in a file that is settled, a part whose
// meaning its text does not tell hides nothing: it is a part of the project like any other. That
// does not hold for a young file that it runs.
func (fs *overlay) reading(s stream, read func()) {
	if !s.found {
		read()
		return
	}
	settled := fs.settled
	fs.settled, fs.within = s.settled, append(fs.within, s.file)
	read()
	fs.settled, fs.within = settled, fs.within[:len(fs.within)-1]
}

// outside reads something as if the innermost of the files that are being read were not.
func (fs *overlay) outside(read func()) {
	within := fs.within
	fs.within = slices.Clip(within[:len(within)-1])
	read()
	fs.within = within
}

// innermost is the file that is being read, if the text lies in one.
func (fs *overlay) innermost() (file string, ok bool) {
	if len(fs.within) == 0 {
		return "", false
	}
	return fs.within[len(fs.within)-1], true
}

// gather reads the files in a folder whose names match the patterns by which a program finds what it runs. A file that
// was made lately is found by its pattern; an older one is a part of the project like any other.
func (fs *overlay) gather(patterns []string, folder word, sc *scope, run func(file string, s stream)) {
	for _, pattern := range patterns {
		fs.gatherBy(inFolder(folder, pattern), sc, run)
	}
}

// gatherBy reads the files of one pattern. Those that the text wrote are known by their paths.
func (fs *overlay) gatherBy(pattern word, sc *scope, run func(file string, s stream)) {
	at, written := fs.fileAt(pattern, sc), fs.at.Path(pattern.text, sc.cwd)
	if at == "" || !fs.spend(1) {
		return
	}
	fs.sought = append(fs.sought, at)
	for _, file := range slices.Sorted(maps.Keys(fs.contents)) {
		if s := fs.contents[file]; (matches(at, file) || matches(written, file)) && fs.spend(1) {
			run(file, s)
		}
	}
	fs.gatherFound(at, run)
}

// runsEach reads the files that a word may name which is run and stands for names, such as the variable of a loop over
// "*.sh".
func (fs *overlay) runsEach(w word, sc *scope, run func(file string, s stream)) {
	if wild(w.text) {
		fs.gatherBy(w, sc, run)
	}
}

// gatherFound reads the files that were found by a pattern.
func (fs *overlay) gatherFound(at string, run func(file string, s stream)) {
	if fs.at.Contents == nil {
		return
	}
	for _, file := range slices.Sorted(maps.Keys(*fs.at.Contents)) {
		if s, ok := fs.foundIn(file); ok && file != at && matches(at, file) && fs.spend(1) {
			fs.files = append(fs.files, file)
			fs.reading(s, func() { run(file, s) })
		}
	}
	if s, ok := fs.foundIn(at); ok { // there are too many
		fs.reading(s, fs.hide)
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

// projectFile is the file of the project around a folder: in that, or in the nearest above that has one.
func (fs *overlay) projectFile(project string, sc *scope) word {
	here := known(project)
	if fs.at.Contents == nil {
		return here
	}
	for dir, above := sc.cwd, here; ; above = known(path.Join(dir, project)) {
		_, ok := fs.runnable(fs.path(above, sc), fs.fileAt(above, sc))
		if _, again := fs.readAgain(fs.fileAt(above, sc)); ok || again {
			return above
		}
		fs.files = append(fs.files, fs.fileAt(above, sc))
		up := path.Dir(dir)
		if dir == "" || dir == "~" || up == dir {
			return here
		}
		dir = up
	}
}

// readAgain is what was found in a file that is being read.
func (fs *overlay) readAgain(file string) (stream, bool) {
	if fs.at.Contents == nil || !slices.Contains(fs.within, file) {
		return stream{}, false
	}
	c, ok := (*fs.at.Contents)[file]
	return stream{present: true, text: c.Text, known: c.Known, file: file, found: true, settled: !c.Recent}, ok
}
