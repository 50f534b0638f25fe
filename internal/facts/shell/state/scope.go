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

const (
	MaxVariables = 1000
	// MaxPath is how long the name of a folder may be that is followed.
	MaxPath = 4096
	// MaxFallbacks is how many changes of folder in a row may fail before it is not known
	// where the text stands.
	MaxFallbacks = 8
)

// Scope is the state of one (sub)shell: variables, arguments, working directory.
// Forks share their variables until one of them assigns.
type Scope struct {
	vars   map[string]Variable
	shared bool
	Args   []word.Word
	// Name is $0, if anything but the shell's own.
	Name word.Word
	// ArgsKnown is false inside a function that is read without a caller.
	ArgsKnown bool
	Folder    string
	// Astray says that the folder is not where the text started, nor known.
	Astray bool
	// Fallbacks are the folders where the text still stands if a change of folder failed.
	Fallbacks []string
	Exports   []string
	// version tells apart forks that have assigned since; budget is where
	// copying is paid for.
	version *byte
	// full says that assignments were left out: a missing name is not known then.
	full   bool
	budget *Budget
	// Descriptors are the descriptors that the text opened, input and output only where "exec" did.
	Descriptors Descriptors
	// Mounts are those of the container that the text runs in.
	Mounts []Mount
}

// NewScope is the scope of a shell that starts in a folder, which is not known where that is astray.
func (b *Budget) NewScope(folder string, astray bool) *Scope {
	return &Scope{Folder: folder, Astray: astray, ArgsKnown: true, budget: b}
}

// Elsewhere is the scope of a shell on another machine or in a container: it knows nothing of this one.
func (s *Scope) Elsewhere() *Scope { return s.budget.NewScope("", false) }

// Variable is what the text assigned to a name, the zero value if nothing.
func (s *Scope) Variable(name string) Variable { return s.vars[name] }

// Has says that the text assigned to a name.
func (s *Scope) Has(name string) bool {
	_, has := s.vars[name]
	return has
}

// HasAssigned says that a scope has assigned to variables since another one was forked from it.
func (s *Scope) HasAssigned(since *Scope) bool { return s.version != since.version }

// Fork is the scope of a shell that starts as this one is.
func (s *Scope) Fork() *Scope {
	s.shared = true
	f := *s
	f.Exports, f.Fallbacks = slices.Clip(s.Exports), slices.Clip(s.Fallbacks)
	return &f
}

// Set gives a variable a value. Of too many variables it leaves one out, and knows that.
func (s *Scope) Set(name string, v Variable) {
	if _, ok := s.vars[name]; !ok && len(s.vars) >= MaxVariables {
		s.full = true
		return
	}
	s.change()
	s.vars[name] = v.after(s.vars[name])
}

// Unset makes a name as if the text had never assigned it.
func (s *Scope) Unset(name string) {
	s.change()
	delete(s.vars, name)
}

// change makes the variables the scope's own.
func (s *Scope) change() {
	s.version = new(byte)
	if !s.shared && s.vars != nil {
		return
	}
	fresh := make(map[string]Variable, len(s.vars)+1)
	maps.Copy(fresh, s.vars)
	s.budget.steps += len(fresh) / 8
	s.vars, s.shared = fresh, false
}

// InFile does something with the name of the file that a text is from.
func (s *Scope) InFile(from word.Stream, do func()) {
	const name = "BASH_SOURCE"
	file := cmp.Or(from.File, from.Path)
	if file == "" {
		do()
		return
	}
	around, some := s.vars[name]
	s.Set(name, Variable{Array: true, List: []word.Word{word.Of(file)}})
	do()
	if s.Unset(name); some {
		s.Set(name, around)
	}
}

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

// Lose makes a variable unknown.
func (s *Scope) Lose(name string) { s.Set(name, Variable{Lost: true}) }

// Merge makes s what is true whether or not the steps that led to o were taken.
func (b *Budget) Merge(s, o *Scope) {
	if s.Folder != o.Folder {
		s.Stray()
	}
	s.Astray = s.Astray || o.Astray
	s.Fallbacks = Union(s.Fallbacks, o.Fallbacks)
	if s.version != o.version {
		b.Spend(1 + (len(s.vars)+len(o.vars))/8)
		s.full = s.full || o.full
		for _, name := range differences(s.vars, o.vars) {
			s.Lose(name)
		}
	}
	for _, name := range o.Exports {
		if !slices.Contains(s.Exports, name) {
			s.Exports = append(s.Exports, name)
		}
	}
}

// Settle puts sc where one of two branches leads. A branch that ends leads nowhere.
func (b *Budget) Settle(sc, x *Scope, xEnds bool, y *Scope, yEnds bool) {
	switch {
	case xEnds:
		*sc = *y
	case yEnds:
		*sc = *x
	default:
		*sc = *x
		sc.shared = true
		b.Merge(sc, y)
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
	v, ok := s.vars[name]
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
	for _, name := range slices.Sorted(maps.Keys(within.vars)) {
		if old := s.vars[name]; !slices.Equal(word.Texts(old.List), word.Texts(within.vars[name].List)) {
			s.Lose(name)
		}
	}
	if within.Folder != s.Folder || within.Astray != s.Astray {
		s.Stray()
	}
}

// IFS are the signs at which values are split.
func (s *Scope) IFS() string {
	if v, ok := s.vars["IFS"]; ok && v.IsKnown() && len(v.List) > 0 {
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
	if v := s.vars["IFS"]; v.Lost || !v.IsKnown() || first == utf8.RuneError && size > 0 {
		w := word.Join(list, " ")
		w.Known = false
		return w
	}
	return word.Join(list, s.IFS()[:size])
}
