package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// runVariable reads the command in a variable that other programs run. handed says that the
// variable reaches them.
func (a *analysis) runVariable(name string, sc *state.Scope, handed bool) {
	if programs.VariableOf(name).Holds != "" {
		v, _ := a.Value(name, sc)
		a.runValue(name, v, sc, handed)
	}
}

// runValue reads a value as the programs do that take it.
func (a *analysis) runValue(name string, v word.Word, sc *state.Scope, handed bool) {
	variable := programs.VariableOf(name)
	switch variable.Holds {
	case programs.HeldCommand:
		if v.Known || handed || !variable.Family {
			a.readText(word.Part(v, strings.TrimLeft(v.Text, "|-! ")), sc.Fork(), nil, word.Stream{})
		}
	case programs.HeldScript:
		a.ProgramFile("sh", v, &call.Invocation{Wrappers: a.wrappers, Scope: sc})
	case programs.HeldProgram:
		if v.Known {
			a.readText(v, sc.Fork(), nil, word.Stream{})
		}
	case programs.HeldPrompt:
		if v.Known && strings.ContainsAny(v.Text, "$`") {
			a.readText(word.Part(v, ": <<PROMPT\n"+v.Text+"\nPROMPT\n"), sc.Fork(), nil, word.Stream{})
		}
	case programs.HeldCommands:
		a.callWith(variable.Program, []word.Word{word.Of("-c"), v}, sc)
	case programs.HeldFiles:
		if v.Known {
			a.runSettings(variable.Program, v, sc)
		}
	case programs.HeldOptions:
		if words := optionWords(v); v.Known && slices.ContainsFunc(words, hasMore) {
			a.callWith(variable.Program, words, sc)
		}
	}
}

// runSettings reads files as the settings of a program.
func (a *analysis) runSettings(program string, files word.Word, sc *state.Scope) {
	inv := &call.Invocation{Wrappers: a.wrappers, Scope: sc}
	for _, file := range strings.FieldsFunc(files.Text, func(r rune) bool { return r == ' ' || r == ':' }) {
		w := word.Part(files, file)
		a.RunFile(w, sc)
		if s, ok := a.ProgramIn(w, inv.In, inv.Scope); ok {
			a.ReadIn(s, func() { a.Commands(program, a.About(program).Own, inv, s) })
		}
	}
}

// callWith reads words of a variable as arguments of a program.
func (a *analysis) callWith(program string, words []word.Word, sc *state.Scope) {
	a.Invoke(call.Invocation{Argv: append([]word.Word{word.Of(program)}, words...), Scope: sc.Fork(), Direct: true})
}

// optionWords are the words of a value; a backslash takes away what the next character means.
func optionWords(v word.Word) []word.Word {
	var words []word.Word
	text, open := strings.Builder{}, false
	for i := 0; i < len(v.Text); i++ {
		switch c := v.Text[i]; {
		case c == '\\' && i+1 < len(v.Text):
			i++
			text.WriteByte(v.Text[i])
			open = true
		case strings.IndexByte(" \t\n", c) < 0:
			text.WriteByte(c)
			open = true
		case open:
			words = append(words, word.Part(v, text.String()))
			text.Reset()
			open = false
		}
	}
	if open {
		words = append(words, word.Part(v, text.String()))
	}
	return words
}

// hasMore says that a word is not an option without a value.
func hasMore(w word.Word) bool {
	return !strings.HasPrefix(w.Text, "-") || strings.ContainsAny(w.Text, "=/@:,.~$ ")
}
