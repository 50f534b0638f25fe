package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// wrapper sees through a program that runs another one.
func (a *analysis) wrapper(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	p := a.About(name).Own
	if runs := grammars.Of(p.Grammar).Runs; runs != nil {
		return runs(&a.reader, name, inv, args)
	}
	for _, o := range args.Options {
		if slices.Contains(p.Shells, o.Name) {
			a.Text(name, inv, o.Value, inv.Scope.Fork())
		}
	}
	if p.Wraps == programs.ShellTexts {
		a.runShellTexts(name, inv)
	}
	if debugs(p, args) {
		return a.Inner(name, inv, args.Operands), true
	}
	if r, ok := a.behind(name, p, inv); ok {
		return r, true
	}
	if words := inv.Argv[1:]; len(words) > 0 && p.Subcommands != nil {
		if between, ok := p.Subcommands[words[0].Text]; ok {
			return a.launch(name, inv, word.After(words, 1+between))
		}
	}
	switch p.Wraps {
	case programs.Command:
		return a.runPrefix(name, inv, args), true
	case programs.AfterOperand:
		return a.Inner(name, inv, word.After(args.Rest, 1)), true
	case programs.Rest:
		return a.Inner(name, inv, args.Rest), true
	case programs.AllWords:
		return a.Inner(name, inv, inv.Argv[1:]), true
	case programs.Launched:
		return a.launch(name, inv, inv.Argv[1:])
	}
	return call.Result{}, false
}

// debugs says that a text of a debugger's own commands runs the program that its first operand names.
func debugs(p *programs.Program, args *call.Arguments) bool {
	return p.Debugs.Regexp != nil && slices.ContainsFunc(args.Options, func(o call.Option) bool {
		return slices.Contains(p.Texts, o.Name) && p.Debugs.MatchString(o.Value.Text)
	})
}

// behind runs what stands behind an option that ends a program's own words. One that follows another option may be the value of
// that, so with a second one it is not clear which of them it is.
func (a *analysis) behind(name string, p *programs.Program, inv *call.Invocation) (call.Result, bool) {
	ends := func(w word.Word) bool { return slices.Contains(p.Behind, w.Text) }
	for i, w := range inv.Argv[1:] {
		if !ends(w) {
			continue
		}
		words := inv.Argv[i+2:]
		if i > 0 && strings.HasPrefix(inv.Argv[i].Text, "-") && !slices.Contains(p.Shells, w.Text) && slices.ContainsFunc(words, ends) {
			a.Hide()
		}
		if len(words) == 1 && strings.ContainsAny(words[0].Text, " \t") {
			return a.Text(name, inv, words[0], inv.Scope.Fork()), true
		}
		return a.Inner(name, inv, words), len(words) > 0
	}
	return call.Result{}, false
}

// launch runs a program in a project's environment.
func (a *analysis) launch(name string, inv *call.Invocation, words []word.Word) (call.Result, bool) {
	words = call.ParseArguments(words, &programs.Program{Strict: true, Options: a.About(name).Own.Options}).Rest
	if len(words) == 0 {
		return call.Result{}, false
	}
	if words[0].Text == "-" { // a program in the language of the project, on the standard input
		a.ReadInline(name, "python", inv, inv.In.Word())
		return call.Result{Out: word.Unknown(value.Taint{})}, true
	}
	return a.Inner(name, inv, words), true
}

// runShellTexts gives each argument of several words to a shell, and what is attached to an option. A file that the text wrote or
// fetched is the program that it names.
func (a *analysis) runShellTexts(name string, inv *call.Invocation) {
	for i, w := range inv.Argv[1:] {
		if !strings.ContainsAny(w.Text, " \t") {
			a.startOwnProgram(name, inv, inv.Argv[1+i:])
			continue
		}
		if _, value, ok := strings.Cut(w.Text, "="); ok && strings.HasPrefix(w.Text, "--") {
			w = word.Part(w, value)
		} else if strings.HasPrefix(w.Text, "-") && len(w.Text) > 2 {
			w = word.Part(w, w.Text[2:])
		}
		a.Text(name, inv, w, inv.Scope.Fork())
	}
}

// startOwnProgram starts the file that the first of the words names, if the text put it there.
func (a *analysis) startOwnProgram(name string, inv *call.Invocation, words []word.Word) {
	if !strings.Contains(words[0].Text, "/") {
		return
	}
	if p := a.Path(words[0], inv.Scope); a.IsWritten(p) || a.IsDownloaded(p) {
		a.Inner(name, inv, words)
	}
}

// runPrefix is a wrapper whose command follows its own options.
func (a *analysis) runPrefix(name string, inv *call.Invocation, args *call.Arguments) call.Result {
	p := a.About(name).Own
	rest := args.Rest
	in := *inv
	if p.Assigns {
		rest, in.Assigns = a.Assignments(rest, &in)
	}
	if dir, ok := args.Value(p.Chdir...); ok {
		in.Scope = a.ScopeIn(dir, inv.Scope)
	}
	switch {
	case p.Skips == programs.Operand:
		rest = word.After(rest, 1)
	case p.Skips == programs.Name && !strings.Contains(word.First(rest).Text, "/") && !programs.Starts(word.First(rest).Text):
		rest = call.ParseArguments(word.After(rest, 1), &programs.Program{Strict: true}).Rest
	}
	if len(rest) == 0 && args.Has(p.Edits...) {
		return call.Result{}
	}
	if len(rest) == 0 && (args.Has("-s", "--shell", "-i", "--login") || p.ShellAlone) && inv.In.Present {
		rest = []word.Word{word.Of("sh")}
	}
	return a.Inner(name, &in, rest)
}

// Inner invokes the command inside a wrapper.
func (a *analysis) Inner(name string, inv *call.Invocation, argv []word.Word) call.Result {
	if len(argv) == 0 {
		return call.Result{Out: word.Unknown(value.Taint{})}
	}
	in := *inv
	in.Argv, in.Direct = argv, true
	in.Wrappers = append(slices.Clip(inv.Wrappers), name)
	given := &inv.Redirections
	in.Redirections = call.Redirections{In: given.In, Out: given.Out, Appends: given.Appends, TakesOutput: given.TakesOutput}
	return a.Invoke(in)
}
