package shell

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// hands is what a word hands over as a file without a place of its own: a process
// substitution, the standard input of the command, or a descriptor.
func (fs *overlay) hands(w word, in stream, sc *scope) (stream, bool) {
	if w.source != nil {
		return *w.source, true
	}
	if w.text == "-" {
		return in, in.present
	}
	number, below, ok := fs.descriptorOf(w, sc)
	switch {
	case !ok || below != "":
		return stream{}, false
	case number == input && in.present:
		return in, true
	}
	if d, open := sc.open.at(number); open && d.in.present {
		return d.in, true
	}
	return unknown(value.Taint{}), number != input
}

// descriptorOf is the descriptor that a word names, by the links that the text makes too.
func (fs *overlay) descriptorOf(w word, sc *scope) (number, below string, ok bool) {
	if strings.HasPrefix(w.text, "/") || strings.HasPrefix(sc.cwd, "/") {
		if number, below, ok = descriptorNumber(fs.at.Path(w.text, sc.cwd)); ok {
			return number, below, true
		}
	}
	if len(fs.links) == 0 {
		return "", "", false
	}
	for _, p := range fs.behindLinks(fs.path(w, sc), true) {
		if number, below, ok = descriptorNumber(p); ok {
			return number, below, true
		}
	}
	return "", "", false
}

// holds is the content of a file that a word names from a folder, if the text made the file or
// hands it over, or if it was found.
func (fs *overlay) holds(w word, in stream, sc, folder *scope) (stream, bool) {
	if s, ok := fs.hands(w, in, sc); ok {
		return s, true
	}
	if fs.at.Contents == nil {
		s, ok := fs.contents[fs.path(w, folder)]
		return s, ok
	}
	return fs.runnable(fs.path(w, folder), fs.fileAt(w, folder))
}

// isInput says whether a word names the standard input of the command.
func (fs *overlay) isInput(w word, sc *scope) bool {
	if w.text == "-" {
		return true
	}
	number, below, ok := descriptorNumber(fs.at.Path(w.text, sc.cwd))
	return ok && number == input && below == "" && w.source == nil
}

// ofItsOwn is a program in a stream; one that is not known hides what it does, unless
// it lies in a file.
func (fs *overlay) ofItsOwn(s stream) []word {
	fs.runs(s.path, s.file)
	if s.isElsewhere() {
		return nil
	}
	fs.ran(s.Taint)
	if !s.known {
		fs.hide()
	}
	return []word{s.word()}
}

// holdsText says that the text wrote a file, so that it is read.
func (fs *overlay) holdsText(p string) bool {
	_, ok := fs.contents[p]
	return ok
}

// hasWrites says that the text wrote a file.
func (fs *overlay) hasWrites() bool { return len(fs.contents) > 0 }

// writtenPaths are the files that the text wrote, sorted.
func (fs *overlay) writtenPaths() []string { return slices.Sorted(maps.Keys(fs.contents)) }

// writtenText is what the text wrote into a file, the zero value if nothing.
func (fs *overlay) writtenText(p string) stream { return fs.contents[p] }

// build notes programs that are compiled of what the text wrote; "" stands for one whose name is not told.
func (fs *overlay) build(paths ...string) { fs.built = union(fs.built, paths) }

// isBuilt says that the text compiled a program.
func (fs *overlay) isBuilt(p string) bool { return slices.Contains(fs.built, p) }

// runnable is the content of a file that the text runs: what the text wrote into it, what the
// text made it of, or what was found in it.
func (fs *overlay) runnable(p, file string) (stream, bool) {
	if s, ok := fs.contents[p]; ok {
		return s, true
	}
	if s, ok := fs.madeOf(p); ok {
		return s, true
	}
	return fs.foundIn(file)
}

func (fs *overlay) fileStream(w word, in stream, sc *scope) stream {
	if s, ok := fs.hands(w, in, sc); ok {
		return s
	}
	return fs.stored(w, sc)
}

// stored is what a file holds as far as the text itself wrote it.
func (fs *overlay) stored(w word, sc *scope) stream {
	if s, ok := fs.hands(w, stream{}, sc); ok {
		return s
	}
	p := fs.path(w, sc)
	file := fs.fileAt(w, sc)
	if s, ok := fs.runnable(p, file); ok && !s.found {
		return s
	} else if ok {
		s.path, s.Taint = p, value.Taint{Read: p != ""}
		return s
	}
	return stream{present: true, path: p, file: file, Taint: value.Taint{Read: p != ""}}
}

// programIn is a program in a file that the text itself wrote or hands over.
func (fs *overlay) programIn(w word, in stream, sc *scope) (stream, bool) {
	if s, ok := fs.hands(w, in, sc); ok {
		return s, true
	}
	return fs.runnable(fs.path(w, sc), fs.fileAt(w, sc))
}

// keep remembers what a file holds after the text wrote it.
func (fs *overlay) keep(path string, s stream, appended bool) {
	if path == "" {
		return
	}
	if fs.contents == nil {
		fs.contents = map[string]stream{}
	}
	s.present = true
	if old, ok := fs.contents[path]; ok && appended {
		s = old.then(s)
	} else if appended {
		s.known = false
	}
	if _, ok := fs.contents[path]; !ok && len(fs.contents) >= maxVariables {
		fs.hide()
		return
	}
	fs.contents[path] = s
	fs.writtenLate(path, s)
}
