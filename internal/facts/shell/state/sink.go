package state

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Sink takes the facts that a reading finds: the calls, and what they name and change.
type Sink struct {
	*Budget
	Calls []Record
	// Code is what the Python programs in the text would do, nil if there is none that tells.
	Code *value.Code

	Hosts, Reads, Writes, Variables, Features, Assigns, Settings, Loses, Files, Made, Sources []string
	// Given are the origins of files that are told by texts which were read by themselves.
	Given []bailiff.Origin
	// ContentReads are files that the text reads, LookUps those in which programs look for code.
	ContentReads, LookUps []string
	// Modules are those of the latter that hold a module which the text loads by its name.
	Modules []string
}

// NoteFeature notes a feature of the text.
func (facts *Sink) NoteFeature(name string) {
	if !slices.Contains(facts.Features, name) {
		facts.Features = append(facts.Features, name)
	}
}

// Assign gives a variable a value, and notes that the text did.
func (facts *Sink) Assign(name string, v Variable, sc *Scope) {
	facts.Assigns = append(facts.Assigns, name)
	sc.Set(name, v)
}

// NoteRun notes that text of some origin was run.
func (facts *Sink) NoteRun(t value.Taint) {
	if t.Fetched {
		facts.NoteFeature(value.FeatureDownloadAndRun)
	}
	if t.Decoded {
		facts.NoteFeature(value.FeatureDecodeAndRun)
	}
}

// Dependencies are the files of [value.Command.Opens]: those that programs look for, and those that
// the text reads if it does not tell what becomes of their content.
func (facts *Sink) Dependencies() []string {
	all := facts.LookUps
	if !facts.Complete {
		all = slices.Concat(facts.LookUps, facts.ContentReads)
	}
	if len(all) > word.MaxFields {
		facts.Complete = false
		all = all[:word.MaxFields]
	}
	return slices.DeleteFunc(value.Sorted(slices.Clone(all)), func(p string) bool { return slices.Contains(facts.Files, p) })
}

// SetsVariable says that the text has given a variable a value, as far as a scope can tell.
func (facts *Sink) SetsVariable(name string, sc *Scope) bool {
	_, set := sc.vars[name]
	return set || sc.full && slices.Contains(facts.Assigns, name)
}

// NeedWhole has what a stream leaves out hide what the text does, where its words count. They depend on the file that it is
// from.
func (facts *Sink) NeedWhole(s word.Stream) {
	if s.Truncated {
		facts.Hide()
	}
	if s.File != "" {
		facts.LookUps = AddPath(facts.LookUps, s.File)
	}
}

// Mention notes a variable that the text takes from its environment.
func (facts *Sink) Mention(name string) { facts.Variables = append(facts.Variables, name) }

// NoteUnset mentions a variable that the text did not assign.
func (facts *Sink) NoteUnset(name string, assigned bool) {
	if !assigned {
		facts.Mention(name)
	}
}

// AddPaths appends paths as add does.
func AddPaths(list, paths []string) []string {
	for _, p := range paths {
		list = AddPath(list, p)
	}
	return list
}

// AddPath appends a path unless it is one of those that hold nothing.
func AddPath(list []string, p string) []string {
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

// SetsAny says that the text sets one of the variables.
func (facts *Sink) SetsAny(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(facts.Assigns, name) })
}

// Union is a list with what others add to it.
func Union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(slices.Clip(list), s)
		}
	}
	return list
}

// NonNil returns the list, never nil.
func NonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// maxSettings is how many settings of one text are told.
const maxSettings = 256

// NoteSetting notes the value that is given to a variable, whole: its end may count.
func (facts *Sink) NoteSetting(name, given string) {
	if len(facts.Settings) >= maxSettings {
		facts.Settings = value.Sorted(facts.Settings)
	}
	if facts.given += len(name) + len(given); len(facts.Settings) >= maxSettings || facts.given > value.MaxText {
		facts.Hide()
		return
	}
	facts.Settings = append(facts.Settings, name+"="+given)
}

// InputWords are the words of an input, or one that stands for them.
func (facts *Sink) InputWords(in word.Stream) []word.Word {
	facts.NeedWhole(in)
	if in.Items != nil {
		return in.Items
	}
	if !in.Known {
		return []word.Word{{Text: "$(…)", Taint: in.Taint}}
	}
	var out []word.Word
	for _, s := range strings.Fields(strings.ReplaceAll(in.Text, "\x00", " ")) {
		if len(out) >= word.MaxFields || !facts.Spend(1) {
			facts.Complete = false
			break
		}
		out = append(out, word.Word{Text: strings.Trim(s, `"'`), Known: true, Taint: in.Taint})
	}
	return out
}
