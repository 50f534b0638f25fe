package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// chooses reads the command in a variable that other programs run. handed says that the
// variable reaches them.
func (a *analysis) chooses(name string, sc *scope, handed bool) {
	if programs.VariableOf(name).Holds != "" {
		v, _ := a.value(name, sc)
		a.chosen(name, v, sc, handed)
	}
}

// chosen reads a value as the programs do that take it.
func (a *analysis) chosen(name string, v word, sc *scope, handed bool) {
	variable := programs.VariableOf(name)
	switch variable.Holds {
	case programs.HeldCommand:
		if v.known || handed || !variable.Family {
			a.nested(part(v, strings.TrimLeft(v.text, "|-! ")), sc.fork(), nil, stream{})
		}
	case programs.HeldScript:
		a.runsNamed("sh", v, &invocation{wrappers: a.wrappers, sc: sc})
	case programs.HeldProgram:
		if v.known {
			a.nested(v, sc.fork(), nil, stream{})
		}
	case programs.HeldPrompt:
		if v.known && strings.ContainsAny(v.text, "$`") {
			a.nested(part(v, ": <<PROMPT\n"+v.text+"\nPROMPT\n"), sc.fork(), nil, stream{})
		}
	case programs.HeldCommands:
		a.callWith(variable.Program, []word{known("-c"), v}, sc)
	case programs.HeldFiles:
		if v.known {
			a.readsSettings(variable.Program, v, sc)
		}
	case programs.HeldOptions:
		if words := optionWords(v); v.known && slices.ContainsFunc(words, tellsMore) {
			a.callWith(variable.Program, words, sc)
		}
	}
}

// readsSettings reads files as the settings of a program.
func (a *analysis) readsSettings(program string, files word, sc *scope) {
	inv := &invocation{wrappers: a.wrappers, sc: sc}
	for _, file := range strings.FieldsFunc(files.text, func(r rune) bool { return r == ' ' || r == ':' }) {
		w := part(files, file)
		a.runsFile(w, sc)
		if s, ok := a.programIn(w, inv.in, inv.sc); ok {
			a.reading(s, func() { a.commands(program, a.about(program).Own, inv, s) })
		}
	}
}

// callWith reads words of a variable as arguments of a program.
func (a *analysis) callWith(program string, words []word, sc *scope) {
	a.invoke(invocation{argv: append([]word{known(program)}, words...), sc: sc.fork(), direct: true})
}

// optionWords are the words of a value; a backslash takes away what the next character means.
func optionWords(v word) []word {
	var words []word
	text, open := strings.Builder{}, false
	for i := 0; i < len(v.text); i++ {
		switch c := v.text[i]; {
		case c == '\\' && i+1 < len(v.text):
			i++
			text.WriteByte(v.text[i])
			open = true
		case strings.IndexByte(" \t\n", c) < 0:
			text.WriteByte(c)
			open = true
		case open:
			words = append(words, part(v, text.String()))
			text.Reset()
			open = false
		}
	}
	if open {
		words = append(words, part(v, text.String()))
	}
	return words
}

// tellsMore says that a word is not an option without a value.
func tellsMore(w word) bool {
	return !strings.HasPrefix(w.text, "-") || strings.ContainsAny(w.text, "=/@:,.~$ ")
}
