// Package state is what one reading of a text has at hand while it goes on: the Scope of a (sub)shell with its variables, folder and
// open descriptors; the Budget of what the reading may still cost, and whether the text told all that runs; the Sink of the facts
// that were found.
//
// What is promised: after two branches a variable or a folder that differs between them is unknown; a text that runs into a limit is
// not complete.
//
// Not here: files (package overlay), and the walk that changes all of this.
package state

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// Scope is the state of one (sub)shell: variables, arguments, working directory.
// Forks share their variables until one of them assigns.
type Scope struct {
	Vars   map[string]Variable
	Shared bool
	Args   []word.Word
	// Name is $0, if anything but the shell's own.
	Name word.Word
	// ArgsKnown is false inside a function that is read without a caller.
	ArgsKnown bool
	Folder    string
	// Astray says that cwd is not where the text started, nor known.
	Astray bool
	// Fallbacks are the folders where the text still stands if a change of folder failed.
	Fallbacks []string
	Exports   []string
	// Version tells apart forks that have assigned since; steps is where
	// copying is paid for.
	Version *byte
	// full says that assignments were left out: a missing name is not known then.
	full  bool
	Steps *int
	// Descriptors are the descriptors that the text opened, input and output only where "exec" did.
	Descriptors descriptors
	// Mounts are those of the container that the text runs in.
	Mounts []Mount
}

func (s *Scope) Fork() *Scope {
	s.Shared = true
	f := *s
	f.Exports, f.Fallbacks = slices.Clip(s.Exports), slices.Clip(s.Fallbacks)
	return &f
}

func (s *Scope) Set(name string, v Variable) {
	if _, ok := s.Vars[name]; !ok && len(s.Vars) >= MaxVariables {
		s.full = true
		return
	}
	s.change()
	s.Vars[name] = v.after(s.Vars[name])
}

// Unset makes a name as if the text had never assigned it.
func (s *Scope) Unset(name string) {
	s.change()
	delete(s.Vars, name)
}

// change makes the variables the scope's own.
func (s *Scope) change() {
	s.Version = new(byte)
	if !s.Shared && s.Vars != nil {
		return
	}
	fresh := make(map[string]Variable, len(s.Vars)+1)
	maps.Copy(fresh, s.Vars)
	*s.Steps += len(fresh) / 8
	s.Vars, s.Shared = fresh, false
}

// InFile does something with the name of the file that a text is from.
func (s *Scope) InFile(from word.Stream, do func()) {
	const name = "BASH_SOURCE"
	file := cmp.Or(from.File, from.Path)
	if file == "" {
		do()
		return
	}
	around, some := s.Vars[name]
	s.Set(name, Variable{Array: true, List: []word.Word{word.Of(file)}})
	do()
	if s.Unset(name); some {
		s.Set(name, around)
	}
}

// MaxFallbacks is how many changes of folder in a row may fail before it is not known
// where the text stands.
const MaxFallbacks = 8

// Leave notes that the working directory is about to change, which may fail.
func (s *Scope) Leave() {
	here := s.Folder
	if s.Astray || len(s.Fallbacks) >= MaxFallbacks {
		here = "$PWD"
	}
	s.Fallbacks = Union(s.Fallbacks, []string{here})
}

// Stray makes the working directory unknown.
func (s *Scope) Stray() { s.Folder, s.Astray = "", true }

func (s *Scope) Lose(name string) { s.Set(name, Variable{Lost: true}) }

// Merge makes s what is true whether or not the steps that led to o were taken.
func (b *Budget) Merge(s, o *Scope) {
	if s.Folder != o.Folder {
		s.Stray()
	}
	s.Astray = s.Astray || o.Astray
	s.Fallbacks = Union(s.Fallbacks, o.Fallbacks)
	if s.Version != o.Version {
		b.Spend(1 + (len(s.Vars)+len(o.Vars))/8)
		s.full = s.full || o.full
		for _, name := range differences(s.Vars, o.Vars) {
			s.Lose(name)
		}
	}
	for _, name := range o.Exports {
		if !slices.Contains(s.Exports, name) {
			s.Exports = append(s.Exports, name)
		}
	}
}

// differences names the variables that are not the same in both.
func differences(x, y map[string]Variable) []string {
	var names []string
	for name, v := range x {
		if w, ok := y[name]; !ok || !v.equal(w) {
			names = append(names, name)
		}
	}
	for name := range y {
		if _, ok := x[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// Get and Each let the expander of the shell library see the known variables.
func (s *Scope) Get(name string) expand.Variable {
	v, ok := s.Vars[name]
	if !ok || v.Lost || !v.IsKnown() || v.Keys != nil {
		return expand.Variable{}
	}
	if !v.Array && len(v.List) == 0 {
		return expand.Variable{}
	}
	if !v.Array {
		return expand.Variable{Set: true, Kind: expand.String, Str: v.List[0].Text}
	}
	out := expand.Variable{Set: true, Kind: expand.Indexed}
	for _, w := range v.List {
		out.List = append(out.List, w.Text)
	}
	return out
}

func (s *Scope) Each(func(string, expand.Variable) bool) {}

// MayBecome notes what a trap changes that may run between any two commands: from here on that is not known.
func (s *Scope) MayBecome(within *Scope, signals []word.Word) {
	if !slices.ContainsFunc(signals, func(w word.Word) bool { return w.Text != "EXIT" && w.Text != "0" }) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(within.Vars)) {
		if old := s.Vars[name]; !slices.Equal(word.Texts(old.List), word.Texts(within.Vars[name].List)) {
			s.Lose(name)
		}
	}
	if within.Folder != s.Folder || within.Astray != s.Astray {
		s.Stray()
	}
}

func (s *Scope) IFS() string {
	if v, ok := s.Vars["IFS"]; ok && v.IsKnown() && len(v.List) > 0 {
		return v.List[0].Text
	}
	return " \t\n"
}

// Join is a list as one word, where it is not several: "$*" and "${a[*]}" with the first sign of IFS between.
func (s *Scope) Join(list []word.Word, sign string) word.Word {
	if sign == "@" {
		return word.Join(list, " ")
	}
	first, size := utf8.DecodeRuneInString(s.IFS())
	if v := s.Vars["IFS"]; v.Lost || !v.IsKnown() || first == utf8.RuneError && size > 0 {
		w := word.Join(list, " ")
		w.Known = false
		return w
	}
	return word.Join(list, s.IFS()[:size])
}

const MaxVariables = 1000

const MaxPath = 4096
