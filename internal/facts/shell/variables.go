package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"mvdan.cc/sh/v3/syntax"
)

// temporary makes the assignments before a command, to be taken back after it.
func (a *analysis) temporary(assigns []*syntax.Assign, sc *state.Scope) (restore func(), names []string) {
	if len(assigns) == 0 {
		return func() {}, nil
	}
	old := make([]state.Variable, len(assigns))
	for i, as := range assigns {
		old[i] = sc.Variable(as.Name.Value)
		names = append(names, as.Name.Value)
		a.ReadAssignment(as, sc)
		a.runVariable(as.Name.Value, sc, true)
	}
	return func() {
		for i := len(assigns) - 1; i >= 0; i-- {
			if name := assigns[i].Name.Value; old[i].List == nil && !old[i].Lost {
				sc.Unset(name)
			} else {
				sc.Set(name, old[i])
			}
		}
	}, names
}

// declare reads export, local, declare, readonly and typeset.
func (a *analysis) declare(c *syntax.DeclClause, sc *state.Scope, files call.Redirections) {
	argv := []word.Word{word.Of(c.Variant.Value)}
	exports := c.Variant.Value == "export"
	fixed, number := c.Variant.Value == "readonly", false
	array, global := false, exports || fixed
	for _, as := range c.Args {
		if as.Name == nil {
			w := a.Word(as.Value, sc)
			a.CheckIndex(w)
			flag := w.Text
			argv = append(argv, w)
			exports = exports || strings.HasPrefix(flag, "-") && strings.Contains(flag, "x")
			if c.Variant.Value != "export" && strings.HasPrefix(flag, "-") && strings.ContainsAny(flag, "nluc") {
				a.Hide() // one name then stands for another, or for another text than was assigned
			}
			fixed = fixed || strings.HasPrefix(flag, "-") && strings.Contains(flag, "r")
			number = number || strings.HasPrefix(flag, "-") && strings.Contains(flag, "i")
			global = global || strings.HasPrefix(flag, "-") && strings.Contains(flag, "g")
			array = array || strings.HasPrefix(flag, "-") && strings.ContainsAny(flag, "aA")
			if name, value, ok := strings.Cut(flag, "="); ok && syntax.ValidName(name) {
				a.Assign(name, state.Variable{List: []word.Word{word.Of(value)}}, sc)
				a.NoteSetting(name, value)
				a.runValue(name, word.Part(w, value), sc, exports)
			}
			continue
		}
		if !global {
			a.locals.Own(as.Name.Value, sc)
		}
		argv = append(argv, a.Declaration(as, sc))
		if !as.Naked {
			a.runVariable(as.Name.Value, sc, exports)
		} else if c.Variant.Value != "export" && c.Variant.Value != "readonly" && sc.Variable(as.Name.Value).List == nil {
			a.Assign(as.Name.Value, state.EmptyVariable(array), sc)
		}
		if fixed || number {
			a.Restrict(as.Name.Value, fixed, number, sc)
		}
		if exports && !slices.Contains(sc.Exports, as.Name.Value) {
			sc.Exports = append(sc.Exports, as.Name.Value)
		}
	}
	inv := call.Invocation{Argv: argv, Wrappers: a.wrappers, Scope: sc, Redirections: files}
	a.Record(&inv, c.Variant.Value, grammars.Arguments(a.About(c.Variant.Value), argv[1:]))
}

// Assignments reads the assignments before the command of a wrapper: the rest of the words, and the names that get a value.
func (a *analysis) Assignments(words []word.Word, inv *call.Invocation) ([]word.Word, []string) {
	assigns := slices.Clip(inv.Assigns)
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0].Text, "=")
		if !ok || name == "" {
			break
		}
		if !syntax.ValidName(name) {
			if !words[0].Known && strings.Contains(name, "$") {
				a.Hide() // it may be the name of any variable
			}
			a.runExport(name, word.Part(words[0], value), inv)
			words = words[1:]
			continue
		}
		assigns = append(assigns, name)
		a.Assigns = append(a.Assigns, name)
		a.NoteSetting(name, value)
		a.runValue(name, word.Part(words[0], value), inv.Scope, true)
		if languages.IsSearched(name) {
			inv.Scope = inv.Scope.Fork()
			inv.Scope.Set(name, state.Variable{List: []word.Word{word.Part(words[0], value)}})
		}
		words = words[1:]
	}
	return words, assigns
}

// runExport reads a function that a variable hands to the shells that are started: any of them may call it.
func (a *analysis) runExport(variable string, body word.Word, inv *call.Invocation) {
	if !strings.HasPrefix(variable, "BASH_FUNC_") {
		return
	}
	call := word.Part(body, "f"+body.Text+"\nf")
	call.Known = body.Known
	a.Text("env", inv, call, inv.Scope.Fork())
}

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
	if code, ok := heldText(variable, v, handed); ok {
		a.readText(code, sc.Fork(), nil, word.Stream{})
		return
	}
	switch variable.Holds {
	case programs.HeldScript:
		a.ProgramFile("sh", v, &call.Invocation{Wrappers: a.wrappers, Scope: sc})
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

// heldText is the shell text in a value, if the programs that take it run one.
func heldText(variable programs.Variable, v word.Word, handed bool) (code word.Word, ok bool) {
	switch variable.Holds {
	case programs.HeldCommand:
		return word.Part(v, strings.TrimLeft(v.Text, "|-! ")), v.Known || handed || !variable.Family
	case programs.HeldProgram:
		return v, v.Known
	case programs.HeldPrompt:
		return word.Part(v, ": <<PROMPT\n"+v.Text+"\nPROMPT\n"), v.Known && strings.ContainsAny(v.Text, "$`")
	}
	return word.Word{}, false
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
