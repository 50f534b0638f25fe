package shell

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// call reads one simple command.
func (a *analysis) call(c *syntax.CallExpr, sc *state.Scope, in word.Stream, files call.Redirections) call.Result {
	outer := a.Feed
	a.Feed = in.Taint
	argv := a.Fields(c.Args, sc)
	a.Feed = outer
	if len(c.Args) == 0 {
		for _, as := range c.Assigns {
			a.ReadAssignment(as, sc)
			a.runVariable(as.Name.Value, sc, slices.Contains(sc.Exports, as.Name.Value))
		}
		a.Reads, a.Writes = append(a.Reads, files.Reads...), append(a.Writes, files.Writes...)
		return call.Result{Out: word.Literal("")}
	}
	restore, names := a.temporary(c.Assigns, sc)
	defer restore()
	return a.Invoke(call.Invocation{Argv: argv, Wrappers: a.wrappers, Assigns: names, In: in, Redirections: files, Scope: sc})
}

// Invoke turns a simple command into a call, and into those of what it wraps.
func (a *analysis) Invoke(inv call.Invocation) call.Result {
	defer a.Enter()()
	if len(inv.Argv) == 0 || !a.Spend(1) {
		return call.Result{Out: word.Literal("")}
	}
	name, ok := call.ProgramName(inv.Argv[0])
	if !ok {
		a.NoteRun(inv.Argv[0].Taint)
		a.Hide()
		if strings.Contains(inv.Argv[0].Text, "/") {
			a.RunFile(inv.Argv[0], inv.Scope)
		}
		a.Record(&inv, "", &call.Arguments{Operands: inv.Argv[1:]})
		return call.Result{Out: word.Unknown(inv.In.Taint)}
	}
	if f := a.functions[inv.Argv[0].Text]; f != nil && !inv.Direct {
		return a.enterFunction(f, inv)
	}
	name = ofZsh(name)
	inv.Argv = a.firstWords(inv.Argv)
	args := grammars.Arguments(a.About(name), inv.Argv[1:])
	if inv.Argv[0].Glob {
		a.Hide()
	}
	a.Record(&inv, name, args)
	a.PathProgram(&inv)
	a.NoteLookUps(name, &inv, args)
	a.NoteImplied(name, &inv, args)
	a.runAlias(inv)
	r := a.runProgram(name, &inv, args)
	r.Lead = cmp.Or(r.Lead, name)
	return r
}

// maxWords is how many words of a call are told; of those beyond half of them, the ones that name more than a file here.
const maxWords = 1024

// firstWords are the words of a call that are told. A call with more of them is not told to its end.
func (a *analysis) firstWords(argv []word.Word) []word.Word {
	if len(argv) <= maxWords {
		return argv
	}
	a.Hide()
	kept := slices.Clone(argv[:maxWords/2])
	for _, w := range argv[maxWords/2:] {
		if len(kept) < maxWords && (w.Glob || !w.Known || word.IsRooted(w.Text) || strings.IndexAny(w.Text, "-.") == 0) {
			kept = append(kept, w)
		}
	}
	return kept
}

// runAlias reads a call as what its alias stands for, in case the shell does.
func (a *analysis) runAlias(inv call.Invocation) {
	value, ok := a.aliases[inv.Argv[0].Text]
	if !ok || inv.Direct {
		return
	}
	var argv []word.Word
	for _, f := range strings.Fields(value) {
		argv = append(argv, word.Of(f))
	}
	inv.Argv, inv.Direct = append(argv, inv.Argv[1:]...), true
	a.Invoke(inv)
}

// ofZsh is the name in "=name", which zsh looks up, and in "zf_name", which is its own such
// command; in other shells no program has such a name.
func ofZsh(name string) string {
	for _, prefix := range []string{"=", "zf_"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return rest
		}
	}
	return name
}

// Record makes the call.
func (a *analysis) Record(inv *call.Invocation, name string, args *call.Arguments) {
	if len(a.Calls) >= value.MaxCalls {
		a.Complete = false
		return
	}
	assigns := value.Sorted(append(slices.Clip(inv.Scope.Exports), inv.Assigns...))
	c := value.Call{Program: name, Argv: word.Texts(inv.Argv), Flags: state.NonNil(args.Flags), Operands: word.Texts(args.Operands),
		Wrappers: append([]string{}, inv.Wrappers...), Assigns: assigns}
	a.effect.Reset(a.FS, a.About(name), args, inv.Scope)
	e := a.effect.Collect(name, grammars.Of(a.About(name).Own.Grammar).Effects)
	c.Reads = value.Sorted(append(e.Reads, inv.Redirections.Reads...))
	c.Writes = value.Sorted(append(e.Writes, inv.Redirections.Writes...))
	a.Loses = append(a.Loses, e.Losses...)
	a.Reads, a.Writes = append(a.Reads, c.Reads...), append(a.Writes, c.Writes...)
	a.Hosts = append(a.Hosts, e.Hosts...)
	a.Spend(len(c.Argv) + len(assigns))
	a.Calls = append(a.Calls, state.Record{Call: c})
	a.NoteSources(inv, name, args, &c)
	a.NoteLinks(inv, name, args)
	inv.Number = len(a.Calls)
}

// enterFunction reads a function's body for this call of it.
func (a *analysis) enterFunction(f *function, inv call.Invocation) call.Result {
	if f.active > 0 && a.Aside > f.aside {
		a.NoteFeature(value.FeatureForkBomb)
	}
	if f.active >= maxRecursion || !a.Spend(4) {
		return call.Result{Out: word.Unknown(value.Taint{})}
	}
	f.called = true
	outside := f.aside
	f.aside = a.Aside
	f.active++
	defer func() { f.active--; f.aside = outside }()
	sc := inv.Scope
	args, known, around := sc.Args, sc.ArgsKnown, a.locals
	sc.Args, sc.ArgsKnown, a.locals = inv.Argv[1:], true, &state.Locals{Scope: sc}
	r := a.statement(f.body, sc, inv.In)
	a.locals.Restore()
	sc.Args, sc.ArgsKnown, a.locals = args, known, around
	a.Reads, a.Writes = append(a.Reads, inv.Redirections.Reads...), append(a.Writes, inv.Redirections.Writes...)
	r.Ends = false
	return r
}
