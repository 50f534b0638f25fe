package shell

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// scope is the state of one (sub)shell: variables, arguments, working directory.
// Forks share their variables until one of them assigns.
type scope struct {
	vars   map[string]variable
	shared bool
	args   []word
	// name is $0, if anything but the shell's own.
	name word
	// argsKnown is false inside a function that is read without a caller.
	argsKnown bool
	cwd       string
	// astray says that cwd is not where the text started, nor known.
	astray bool
	// former are the folders where the text still stands if a change of folder failed.
	former   []string
	exported []string
	// version tells apart forks that have assigned since; steps is where
	// copying is paid for.
	version *byte
	// full says that assignments were left out: a missing name is not known then.
	full  bool
	steps *int
	// open are the descriptors that the text opened, input and output only where "exec" did.
	open descriptors
	// mounts are those of the container that the text runs in.
	mounts []mount
}

func (s *scope) fork() *scope {
	s.shared = true
	f := *s
	f.exported, f.former = slices.Clip(s.exported), slices.Clip(s.former)
	return &f
}

func (s *scope) set(name string, v variable) {
	if _, ok := s.vars[name]; !ok && len(s.vars) >= maxVariables {
		s.full = true
		return
	}
	s.change()
	s.vars[name] = v.after(s.vars[name])
}

// unset makes a name as if the text had never assigned it.
func (s *scope) unset(name string) {
	s.change()
	delete(s.vars, name)
}

// change makes the variables the scope's own.
func (s *scope) change() {
	s.version = new(byte)
	if !s.shared && s.vars != nil {
		return
	}
	fresh := make(map[string]variable, len(s.vars)+1)
	maps.Copy(fresh, s.vars)
	*s.steps += len(fresh) / 8
	s.vars, s.shared = fresh, false
}

// inFile does something with the name of the file that a text is from.
func (s *scope) inFile(from stream, do func()) {
	const name = "BASH_SOURCE"
	file := cmp.Or(from.file, from.path)
	if file == "" {
		do()
		return
	}
	around, some := s.vars[name]
	s.set(name, variable{array: true, list: []word{known(file)}})
	do()
	if s.unset(name); some {
		s.set(name, around)
	}
}

// maxFormer is how many changes of folder in a row may fail before it is not known
// where the text stands.
const maxFormer = 8

// leave notes that the working directory is about to change, which may fail.
func (s *scope) leave() {
	here := s.cwd
	if s.astray || len(s.former) >= maxFormer {
		here = "$PWD"
	}
	s.former = union(s.former, []string{here})
}

// stray makes the working directory unknown.
func (s *scope) stray() { s.cwd, s.astray = "", true }

func (s *scope) lose(name string) { s.set(name, variable{lost: true}) }

// merge makes s what is true whether or not the steps that led to o were taken.
func (b *budget) merge(s, o *scope) {
	if s.cwd != o.cwd {
		s.stray()
	}
	s.astray = s.astray || o.astray
	s.former = union(s.former, o.former)
	if s.version != o.version {
		b.spend(1 + (len(s.vars)+len(o.vars))/8)
		s.full = s.full || o.full
		for _, name := range differing(s.vars, o.vars) {
			s.lose(name)
		}
	}
	for _, name := range o.exported {
		if !slices.Contains(s.exported, name) {
			s.exported = append(s.exported, name)
		}
	}
}

// differing names the variables that are not the same in both.
func differing(x, y map[string]variable) []string {
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
func (s *scope) Get(name string) expand.Variable {
	v, ok := s.vars[name]
	if !ok || v.lost || !v.known() || v.keys != nil {
		return expand.Variable{}
	}
	if !v.array && len(v.list) == 0 {
		return expand.Variable{}
	}
	if !v.array {
		return expand.Variable{Set: true, Kind: expand.String, Str: v.list[0].text}
	}
	out := expand.Variable{Set: true, Kind: expand.Indexed}
	for _, w := range v.list {
		out.List = append(out.List, w.text)
	}
	return out
}

func (s *scope) Each(func(string, expand.Variable) bool) {}

// mayBecome notes what a trap changes that may run between any two commands: from here on that is not known.
func (s *scope) mayBecome(within *scope, signals []word) {
	if !slices.ContainsFunc(signals, func(w word) bool { return w.text != "EXIT" && w.text != "0" }) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(within.vars)) {
		if old := s.vars[name]; !slices.Equal(texts(old.list), texts(within.vars[name].list)) {
			s.lose(name)
		}
	}
	if within.cwd != s.cwd || within.astray != s.astray {
		s.stray()
	}
}

func (s *scope) ifs() string {
	if v, ok := s.vars["IFS"]; ok && v.known() && len(v.list) > 0 {
		return v.list[0].text
	}
	return " \t\n"
}

// joined is a list as one word, where it is not several: "$*" and "${a[*]}" with the first sign of IFS between.
func (s *scope) joined(list []word, sign string) word {
	if sign == "@" {
		return join(list, " ")
	}
	first, size := utf8.DecodeRuneInString(s.ifs())
	if v := s.vars["IFS"]; v.lost || !v.known() || first == utf8.RuneError && size > 0 {
		w := join(list, " ")
		w.known = false
		return w
	}
	return join(list, s.ifs()[:size])
}

const MaxSteps = 200_000

const MaxNesting = 200

const maxFields = 4096

// maxOperated is how long a value may be for ${x%…} and its like.
const maxOperated = 1024

const maxVariables = 1000

// maxItems is how many names a word may stand for.
const maxItems = 256

// maxValue is how long a word and a stream may be: what a text spells out fits in.
const maxValue = value.MaxText

const maxTexts = 2 << 20

const maxPath = 4096
