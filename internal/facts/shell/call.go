package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/expand"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/parse"
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
			a.chooses(as.Name.Value, sc, slices.Contains(sc.Exports, as.Name.Value))
		}
		a.Reads, a.Writes = append(a.Reads, files.Reads...), append(a.Writes, files.Writes...)
		return call.Result{Out: word.Literal("")}
	}
	restore, names := a.temporary(c.Assigns, sc)
	defer restore()
	return a.invoke(call.Invocation{Argv: argv, Wrappers: a.wrappers, Assigns: names, In: in, Redirections: files, Scope: sc})
}

// temporary makes the assignments before a command, to be taken back after it.
func (a *analysis) temporary(assigns []*syntax.Assign, sc *state.Scope) (restore func(), names []string) {
	if len(assigns) == 0 {
		return func() {}, nil
	}
	old := make([]state.Variable, len(assigns))
	for i, as := range assigns {
		old[i] = sc.Vars[as.Name.Value]
		names = append(names, as.Name.Value)
		a.ReadAssignment(as, sc)
		a.chooses(as.Name.Value, sc, true)
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

// invoke turns a simple command into a call, and into those of what it wraps.
func (a *analysis) invoke(inv call.Invocation) call.Result {
	defer a.Enter()()
	if len(inv.Argv) == 0 || !a.Spend(1) {
		return call.Result{Out: word.Literal("")}
	}
	name, ok := programName(inv.Argv[0])
	if !ok {
		a.NoteRun(inv.Argv[0].Taint)
		a.Hide()
		if strings.Contains(inv.Argv[0].Text, "/") {
			a.RunFile(inv.Argv[0], inv.Scope)
		}
		a.record(&inv, "", &call.Arguments{Operands: inv.Argv[1:]})
		return call.Result{Out: word.Unknown(inv.In.Taint)}
	}
	if f := a.functions[inv.Argv[0].Text]; f != nil && !inv.Direct {
		return a.enterFunction(f, inv)
	}
	name = ofZsh(name)
	inv.Argv = a.few(inv.Argv)
	args := a.argumentsOf(name, inv.Argv[1:])
	if inv.Argv[0].Glob {
		a.Hide()
	}
	a.record(&inv, name, args)
	a.program(&inv)
	a.seeks(name, &inv, args)
	a.implies(name, &inv, args)
	a.aliased(inv)
	r := a.behave(name, &inv, args)
	r.Lead = cmp.Or(r.Lead, name)
	return r
}

// maxWords is how many words of a call are told; of those beyond half of them, the ones that name more than a file here.
const maxWords = 1024

// few are the words of a call that are told. A call with more of them is not told to its end.
func (a *analysis) few(argv []word.Word) []word.Word {
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

// aliased reads a call as what its alias stands for, in case the shell does.
func (a *analysis) aliased(inv call.Invocation) {
	value, ok := a.aliases[inv.Argv[0].Text]
	if !ok || inv.Direct {
		return
	}
	var argv []word.Word
	for _, f := range strings.Fields(value) {
		argv = append(argv, word.Of(f))
	}
	inv.Argv, inv.Direct = append(argv, inv.Argv[1:]...), true
	a.invoke(inv)
}

// programName is the base name of a program word; ok is false if the text does not tell it.
func programName(w word.Word) (name string, ok bool) {
	name = w.Text
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	} else if !w.Known {
		return "", false
	}
	if name == "" || !w.Known && strings.ContainsAny(name, "$<>(…{)") || w.Glob && word.HasWildcard(name) {
		return "", false
	}
	return spelt(name), true
}

// spelt is the name of a program without the ending that some systems give it or its version, and that of an interpreter where
// file systems take capitals and small letters for the same.
func spelt(name string) string {
	if programs.Of(name) != &programs.Undescribed {
		return name
	}
	bare, ended := strings.CutSuffix(name, ".exe")
	if !ended || bare == "" {
		bare = name
	}
	return cmp.Or(programs.InterpreterLike(bare), programs.Unversioned(bare))
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

// program notes a program that is run by its path, and reads it if the text wrote it.
func (a *analysis) program(inv *call.Invocation) {
	w := inv.Argv[0]
	if !strings.Contains(w.Text, "/") {
		return
	}
	if systemFolder(path.Dir(w.Text)) && path.Clean(w.Text) == w.Text {
		return
	}
	p := a.RunFile(w, inv.Scope)
	a.copies(*inv, p)
	for _, there := range a.formerly(inv, w) {
		s, _ := a.Lookup(a.FileAt(w, there.Scope))
		a.ReadIn(s, func() { a.startsFound(there, p, s) })
	}
	a.EachMatch(w, inv.Scope, func(file string, s word.Stream) { a.runsContent("", "", inv, file, s) })
	beside := *inv
	a.starts(p, func(s word.Stream) { a.startsFile(&beside, p, s) })
	if s, ok := a.Program(p, a.FileAt(w, inv.Scope)); ok && s.OnDisk {
		a.ReadIn(s, func() { a.startsFound(inv, p, s) })
	} else if ok {
		a.startsFile(inv, p, s)
	}
}

// copies reads a call of a file as one of the known programs that the text copied to it, or linked it to.
func (a *analysis) copies(inv call.Invocation, p string) {
	ascend, ok := a.Descend()
	if p == "" || !ok {
		return
	}
	defer ascend()
	for _, from := range a.Originals(p) {
		if name, ok := programName(word.Of(from)); !ok || programs.Of(name) == &programs.Undescribed {
			a.copies(inv, a.At.Path(from, ""))
			continue
		}
		in := inv
		in.Argv, in.Direct = append([]word.Word{word.Of(from)}, inv.Argv[1:]...), true
		a.invoke(in)
	}
}

// startsFile reads a program that the text wrote.
func (a *analysis) startsFile(inv *call.Invocation, p string, s word.Stream) {
	a.NoteRun(s.Taint)
	if script, shell := languages.ShellScript(s); shell {
		a.nested(script, inv.Scope.Fork(), append(slices.Clip(inv.Wrappers), path.Base(p)), inv.In)
	}
}

func systemFolder(dir string) bool {
	switch dir {
	case "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/local/go/bin",
		"/opt/homebrew/bin", "/snap/bin":
		return true
	}
	return false
}

// record makes the call.
func (a *analysis) record(inv *call.Invocation, name string, args *call.Arguments) {
	if len(a.Calls) >= value.MaxCalls {
		a.Complete = false
		return
	}
	assigns := value.Sorted(append(slices.Clip(inv.Scope.Exports), inv.Assigns...))
	c := value.Call{Program: name, Argv: word.Texts(inv.Argv), Flags: state.NonNil(args.Flags), Operands: word.Texts(args.Operands),
		Wrappers: append([]string{}, inv.Wrappers...), Assigns: assigns}
	a.effect.Reset(a.FS, a.about(name), args, inv.Scope)
	e := a.effect.Collect(name, grammars.Of(a.about(name).Own.Grammar).Effects)
	c.Reads = value.Sorted(append(e.Reads, inv.Redirections.Reads...))
	c.Writes = value.Sorted(append(e.Writes, inv.Redirections.Writes...))
	a.Loses = append(a.Loses, e.Losses...)
	a.Reads, a.Writes = append(a.Reads, c.Reads...), append(a.Writes, c.Writes...)
	a.Hosts = append(a.Hosts, e.Hosts...)
	a.Spend(len(c.Argv) + len(assigns))
	a.Calls = append(a.Calls, state.Record{Call: c})
	a.transfer(inv, name, args, &c)
	a.link(inv, name, args)
	inv.Number = len(a.Calls)
}

// enterFunction reads a function's body for this call of it.
func (a *analysis) enterFunction(f *function, inv call.Invocation) call.Result {
	if f.active > 0 && a.aside > f.aside {
		a.NoteFeature(value.FeatureForkBomb)
	}
	if f.active >= maxRecursion || !a.Spend(4) {
		return call.Result{Out: word.Unknown(value.Taint{})}
	}
	f.called = true
	outside := f.aside
	f.aside = a.aside
	f.active++
	defer func() { f.active--; f.aside = outside }()
	sc := inv.Scope
	args, known, around := sc.Args, sc.ArgsKnown, a.locals
	sc.Args, sc.ArgsKnown, a.locals = inv.Argv[1:], true, &state.Locals{Sc: sc}
	r := a.statement(f.body, sc, inv.In)
	a.locals.Restore()
	sc.Args, sc.ArgsKnown, a.locals = args, known, around
	a.Reads, a.Writes = append(a.Reads, inv.Redirections.Reads...), append(a.Writes, inv.Redirections.Writes...)
	r.Ends = false
	return r
}

// nested reads a text that an interpreter gets, in scope sc.
func (a *analysis) nested(code word.Word, sc *state.Scope, wrappers []string, in word.Stream) call.Result {
	a.NoteRun(code.Taint)
	a.Texts += len(code.Text)
	if !code.Known {
		code = expand.WithTempNames(code, sc)
	}
	if !code.Known || a.Texts > state.MaxTexts {
		a.Hide()
		return call.Result{Out: word.Unknown(code.Taint)}
	}
	stmts, err := parse.Statements(code.Text, state.MaxSteps)
	if err != nil || !a.Spend(1+len(code.Text)/256) {
		a.Hide()
		return call.Result{Out: word.Unknown(code.Taint)}
	}
	outer := a.wrappers
	a.wrappers = wrappers
	r := a.statements(stmts, sc, in)
	a.wrappers = outer
	r.Lead = ""
	return r
}

// argumentsOf reads the arguments of a program by its name.
func (a *analysis) argumentsOf(name string, words []word.Word) *call.Arguments {
	e := a.about(name)
	if reads := grammars.Of(e.Own.Grammar).Arguments; reads != nil {
		return reads(words, e.Described)
	}
	return call.ParseArguments(words, e.Described)
}

// about is all that is known of a program. The last one is kept, since a call asks often.
func (a *analysis) about(name string) *programs.Entry {
	if a.entry == nil || a.entry.Name != name {
		a.entry = programs.Look(name)
	}
	return a.entry
}
