package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// sink takes the facts that a reading finds: the calls, and what they name and change.
type sink struct {
	*budget
	calls []made
	// code is what the Python programs in the text would do, nil if there is none that tells.
	code *value.Code

	hosts, reads, writes, variables, features, assigns, settings, loses, files []string
	// opened are files that the text reads, sought those in which programs look for code.
	opened, sought []string
}

func (facts *sink) feature(name string) {
	if !slices.Contains(facts.features, name) {
		facts.features = append(facts.features, name)
	}
}

// assign gives a variable a value, and notes that the text did.
func (facts *sink) assign(name string, v variable, sc *scope) {
	facts.assigns = append(facts.assigns, name)
	sc.set(name, v)
}

// ran notes that text of some origin was run.
func (facts *sink) ran(t value.Taint) {
	if t.Fetched {
		facts.feature(value.FeatureDownloadAndRun)
	}
	if t.Decoded {
		facts.feature(value.FeatureDecodeAndRun)
	}
}

// depends are the files of [value.Command.Opens]: those that programs look for, and those that
// the text reads if it does not tell what becomes of their content.
func (facts *sink) depends() []string {
	all := facts.sought
	if !facts.complete {
		all = slices.Concat(facts.sought, facts.opened)
	}
	if len(all) > maxFields {
		facts.complete = false
		all = all[:maxFields]
	}
	return slices.DeleteFunc(value.Sorted(slices.Clone(all)), func(p string) bool { return slices.Contains(facts.files, p) })
}

// setsVariable says that the text has given a variable a value, as far as a scope can tell.
func (facts *sink) setsVariable(name string, sc *scope) bool {
	_, set := sc.vars[name]
	return set || sc.full && slices.Contains(facts.assigns, name)
}

// whole has what a stream leaves out hide what the text does, where its words count. They depend on the file that it is
// from.
func (facts *sink) whole(s stream) {
	if s.over {
		facts.hide()
	}
	if s.file != "" {
		facts.sought = add(facts.sought, s.file)
	}
}

// mention notes a variable that the text takes from its environment.
func (facts *sink) mention(name string) { facts.variables = append(facts.variables, name) }

func (facts *sink) noteUnset(name string, assigned bool) {
	if !assigned {
		facts.mention(name)
	}
}

// addAll appends paths as add does.
func addAll(list, paths []string) []string {
	for _, p := range paths {
		list = add(list, p)
	}
	return list
}

// add appends a path unless it is one of those that hold nothing.
func add(list []string, p string) []string {
	switch p {
	case "", "-", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/random", "/dev/urandom",
		"/dev/full":
		return list
	}
	if strings.HasPrefix(p, "/dev/fd/") || strings.HasPrefix(p, "<(") || strings.HasPrefix(p, ">(") {
		return list
	}
	return append(list, p)
}

// setsAny says that the text sets one of the variables.
func (facts *sink) setsAny(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(facts.assigns, name) })
}

// union is a list with what others add to it.
func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(slices.Clip(list), s)
		}
	}
	return list
}

// listed returns the list, never nil.
func listed(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// maxSettings is how many settings of one text are told.
const maxSettings = 256

// setting notes the value that is given to a variable, whole: its end may count.
func (facts *sink) setting(name, given string) {
	if len(facts.settings) >= maxSettings {
		facts.settings = value.Sorted(facts.settings)
	}
	if facts.given += len(name) + len(given); len(facts.settings) >= maxSettings || facts.given > value.MaxText {
		facts.hide()
		return
	}
	facts.settings = append(facts.settings, name+"="+given)
}

// inputWords are the words of an input, or one that stands for them.
func (facts *sink) inputWords(in stream) []word {
	facts.whole(in)
	if in.items != nil {
		return in.items
	}
	if !in.known {
		return []word{{text: "$(…)", Taint: in.Taint}}
	}
	var out []word
	for _, s := range strings.Fields(strings.ReplaceAll(in.text, "\x00", " ")) {
		if len(out) >= maxFields || !facts.spend(1) {
			facts.complete = false
			break
		}
		out = append(out, word{text: strings.Trim(s, `"'`), known: true, Taint: in.Taint})
	}
	return out
}
