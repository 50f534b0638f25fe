package overlay

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// PseudoFile is what a word hands over as a file without a place of its own: a process
// substitution, the standard input of the command, or a descriptor.
func (fs *FS) PseudoFile(w word.Word, in word.Stream, sc *state.Scope) (word.Stream, bool) {
	if w.Source != nil {
		return *w.Source, true
	}
	if w.Text == "-" {
		return in, in.Present
	}
	number, below, ok := fs.descriptorOf(w, sc)
	switch {
	case !ok || below != "":
		return word.Stream{}, false
	case number == state.Input && in.Present:
		return in, true
	}
	if d, open := sc.Descriptors.At(number); open && d.In.Present {
		return d.In, true
	}
	return word.Unknown(value.Taint{}), number != state.Input
}

// descriptorOf is the descriptor that a word names, by the links that the text makes too.
func (fs *FS) descriptorOf(w word.Word, sc *state.Scope) (number, below string, ok bool) {
	if strings.HasPrefix(w.Text, "/") || strings.HasPrefix(sc.Folder, "/") {
		if number, below, ok = state.DescriptorNumber(fs.At.Path(w.Text, sc.Folder)); ok {
			return number, below, true
		}
	}
	if len(fs.links) == 0 {
		return "", "", false
	}
	for _, p := range fs.targets(fs.Path(w, sc), true) {
		if number, below, ok = state.DescriptorNumber(p); ok {
			return number, below, true
		}
	}
	return "", "", false
}

// Content is the content of a file that a word names from a folder, if the text made the file or
// hands it over, or if it was found.
func (fs *FS) Content(w word.Word, in word.Stream, sc, folder *state.Scope) (word.Stream, bool) {
	if s, ok := fs.PseudoFile(w, in, sc); ok {
		return s, true
	}
	if fs.At.Contents == nil {
		s, ok := fs.contents[fs.Path(w, folder)]
		return s, ok
	}
	return fs.Program(fs.Path(w, folder), fs.FileAt(w, folder))
}

// IsInput says whether a word names the standard input of the command.
func (fs *FS) IsInput(w word.Word, sc *state.Scope) bool {
	if w.Text == "-" {
		return true
	}
	number, below, ok := state.DescriptorNumber(fs.At.Path(w.Text, sc.Folder))
	return ok && number == state.Input && below == "" && w.Source == nil
}

// Programs is a program in a stream; one that is not known hides what it does, unless
// it lies in a file.
func (fs *FS) Programs(s word.Stream) []word.Word {
	fs.Run(s.Path, s.File)
	if s.IsElsewhere() {
		return nil
	}
	fs.NoteRun(s.Taint)
	if !s.Known {
		fs.Hide()
	}
	return []word.Word{s.Word()}
}

// IsWritten says that the text wrote a file, so that it is read.
func (fs *FS) IsWritten(p string) bool {
	_, ok := fs.contents[p]
	return ok
}

// HasWrites says that the text wrote a file.
func (fs *FS) HasWrites() bool { return len(fs.contents) > 0 }

// WrittenPaths are the files that the text wrote, sorted.
func (fs *FS) WrittenPaths() []string { return slices.Sorted(maps.Keys(fs.contents)) }

// WrittenText is what the text wrote into a file, the zero value if nothing.
func (fs *FS) WrittenText(p string) word.Stream { return fs.contents[p] }

// Build notes programs that are compiled of what the text wrote; "" stands for one whose name is not told.
func (fs *FS) Build(paths ...string) { fs.builds = state.Union(fs.builds, paths) }

// IsBuilt says that the text compiled a program.
func (fs *FS) IsBuilt(p string) bool { return slices.Contains(fs.builds, p) }

// Program is the content of a file that the text runs: what the text wrote into it, what the
// text made it of, or what was found in it.
func (fs *FS) Program(p, file string) (word.Stream, bool) {
	if s, ok := fs.contents[p]; ok {
		return s, true
	}
	if s, ok := fs.composition(p); ok {
		return s, true
	}
	return fs.Lookup(file)
}

// Source is what a word hands over, or what the file holds that it names.
func (fs *FS) Source(w word.Word, in word.Stream, sc *state.Scope) word.Stream {
	if s, ok := fs.PseudoFile(w, in, sc); ok {
		return s
	}
	return fs.Stream(w, sc)
}

// Stream is what a file holds as far as the text itself wrote it.
func (fs *FS) Stream(w word.Word, sc *state.Scope) word.Stream {
	if s, ok := fs.PseudoFile(w, word.Stream{}, sc); ok {
		return s
	}
	p := fs.Path(w, sc)
	file := fs.FileAt(w, sc)
	if s, ok := fs.Program(p, file); ok && !s.OnDisk {
		return s
	} else if ok {
		s.Path, s.Taint = p, value.Taint{Read: p != ""}
		return s
	}
	return word.Stream{Present: true, Path: p, File: file, Taint: value.Taint{Read: p != ""}}
}

// ProgramIn is a program in a file that the text itself wrote or hands over.
func (fs *FS) ProgramIn(w word.Word, in word.Stream, sc *state.Scope) (word.Stream, bool) {
	if s, ok := fs.PseudoFile(w, in, sc); ok {
		return s, true
	}
	return fs.Program(fs.Path(w, sc), fs.FileAt(w, sc))
}

// Write remembers what a file holds after the text wrote it.
func (fs *FS) Write(path string, s word.Stream, appended bool) {
	if path == "" {
		return
	}
	if fs.contents == nil {
		fs.contents = map[string]word.Stream{}
	}
	s.Present = true
	if old, ok := fs.contents[path]; ok && appended {
		s = old.Then(s)
	} else if appended {
		s.Known = false
	}
	if _, ok := fs.contents[path]; !ok && len(fs.contents) >= state.MaxVariables {
		fs.Hide()
		return
	}
	fs.contents[path] = s
	fs.rerun(path, s)
}
