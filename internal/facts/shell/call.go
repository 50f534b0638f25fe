package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// call reads one simple command.
func (a *analysis) call(c *syntax.CallExpr, sc *scope, in stream, files redirections) result {
	outer := a.feed
	a.feed = in.Taint
	argv := a.fields(c.Args, sc)
	a.feed = outer
	if len(c.Args) == 0 {
		for _, as := range c.Assigns {
			a.assignment(as, sc)
			a.chooses(as.Name.Value, sc, slices.Contains(sc.exported, as.Name.Value))
		}
		a.reads, a.writes = append(a.reads, files.reads...), append(a.writes, files.writes...)
		return result{out: literal("")}
	}
	restore, names := a.temporary(c.Assigns, sc)
	defer restore()
	return a.invoke(invocation{argv: argv, wrappers: a.wrappers, assigns: names, in: in, files: files, sc: sc})
}

// temporary makes the assignments before a command, to be taken back after it.
func (a *analysis) temporary(assigns []*syntax.Assign, sc *scope) (restore func(), names []string) {
	if len(assigns) == 0 {
		return func() {}, nil
	}
	old := make([]variable, len(assigns))
	for i, as := range assigns {
		old[i] = sc.vars[as.Name.Value]
		names = append(names, as.Name.Value)
		a.assignment(as, sc)
		a.chooses(as.Name.Value, sc, true)
	}
	return func() {
		for i := len(assigns) - 1; i >= 0; i-- {
			if name := assigns[i].Name.Value; old[i].list == nil && !old[i].lost {
				sc.unset(name)
			} else {
				sc.set(name, old[i])
			}
		}
	}, names
}

// invoke turns a simple command into a call, and into those of what it wraps.
func (a *analysis) invoke(inv invocation) result {
	defer a.enter()()
	if len(inv.argv) == 0 || !a.spend(1) {
		return result{out: literal("")}
	}
	name, ok := programName(inv.argv[0])
	if !ok {
		a.ran(inv.argv[0].Taint)
		a.hide()
		if strings.Contains(inv.argv[0].text, "/") {
			a.runsFile(inv.argv[0], inv.sc)
		}
		a.record(&inv, "", &arguments{operands: inv.argv[1:]})
		return result{out: unknown(inv.in.Taint)}
	}
	if f := a.functions[inv.argv[0].text]; f != nil && !inv.direct {
		return a.enterFunction(f, inv)
	}
	name = ofZsh(name)
	inv.argv = a.few(inv.argv)
	args := a.argumentsOf(name, inv.argv[1:])
	if inv.argv[0].glob {
		a.hide()
	}
	a.record(&inv, name, args)
	a.program(&inv)
	a.seeks(name, &inv, args)
	a.implies(name, &inv, args)
	a.aliased(inv)
	r := a.behave(name, &inv, args)
	r.lead = cmp.Or(r.lead, name)
	return r
}

// maxWords is how many words of a call are told; of those beyond half of them, the ones that name more than a file here.
const maxWords = 1024

// few are the words of a call that are told. A call with more of them is not told to its end.
func (a *analysis) few(argv []word) []word {
	if len(argv) <= maxWords {
		return argv
	}
	a.hide()
	kept := slices.Clone(argv[:maxWords/2])
	for _, w := range argv[maxWords/2:] {
		if len(kept) < maxWords && (w.glob || !w.known || rooted(w.text) || strings.IndexAny(w.text, "-.") == 0) {
			kept = append(kept, w)
		}
	}
	return kept
}

// aliased reads a call as what its alias stands for, in case the shell does.
func (a *analysis) aliased(inv invocation) {
	value, ok := a.aliases[inv.argv[0].text]
	if !ok || inv.direct {
		return
	}
	var argv []word
	for _, f := range strings.Fields(value) {
		argv = append(argv, known(f))
	}
	inv.argv, inv.direct = append(argv, inv.argv[1:]...), true
	a.invoke(inv)
}

// programName is the base name of a program word; ok is false if the text does not tell it.
func programName(w word) (name string, ok bool) {
	name = w.text
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	} else if !w.known {
		return "", false
	}
	if name == "" || !w.known && strings.ContainsAny(name, "$<>(…{)") || w.glob && wild(name) {
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
func (a *analysis) program(inv *invocation) {
	w := inv.argv[0]
	if !strings.Contains(w.text, "/") {
		return
	}
	if systemFolder(path.Dir(w.text)) && path.Clean(w.text) == w.text {
		return
	}
	p := a.runsFile(w, inv.sc)
	a.copies(*inv, p)
	for _, there := range a.formerly(inv, w) {
		s, _ := a.foundIn(a.fileAt(w, there.sc))
		a.reading(s, func() { a.startsFound(there, p, s) })
	}
	a.runsEach(w, inv.sc, func(file string, s stream) { a.runsContent("", "", inv, file, s) })
	beside := *inv
	a.starts(p, func(s stream) { a.startsFile(&beside, p, s) })
	if s, ok := a.runnable(p, a.fileAt(w, inv.sc)); ok && s.found {
		a.reading(s, func() { a.startsFound(inv, p, s) })
	} else if ok {
		a.startsFile(inv, p, s)
	}
}

// copies reads a call of a file as one of the known programs that the text copied to it, or linked it to.
func (a *analysis) copies(inv invocation, p string) {
	ascend, ok := a.descend()
	if p == "" || !ok {
		return
	}
	defer ascend()
	for _, from := range a.originals(p) {
		if name, ok := programName(known(from)); !ok || programs.Of(name) == &programs.Undescribed {
			a.copies(inv, a.at.Path(from, ""))
			continue
		}
		in := inv
		in.argv, in.direct = append([]word{known(from)}, inv.argv[1:]...), true
		a.invoke(in)
	}
}

// startsFile reads a program that the text wrote.
func (a *analysis) startsFile(inv *invocation, p string, s stream) {
	a.ran(s.Taint)
	if script, shell := shellScript(s); shell {
		a.nested(script, inv.sc.fork(), append(slices.Clip(inv.wrappers), path.Base(p)), inv.in)
	}
}

// shellScript is the text of a file that runs as shell.
func shellScript(s stream) (word, bool) {
	w := word{text: s.text, known: s.known, Taint: s.Taint}
	if !s.known || !strings.HasPrefix(s.text, "#!") {
		return w, true
	}
	line, _, _ := strings.Cut(s.text, "\n")
	fields := strings.Fields(strings.TrimPrefix(line, "#!"))
	return w, len(fields) > 0 && slices.ContainsFunc(fields, func(f string) bool { return programs.Of(path.Base(f)).Language == "shell" })
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
func (a *analysis) record(inv *invocation, name string, args *arguments) {
	if len(a.calls) >= value.MaxCalls {
		a.complete = false
		return
	}
	assigns := value.Sorted(append(slices.Clip(inv.sc.exported), inv.assigns...))
	c := value.Call{Program: name, Argv: texts(inv.argv), Flags: listed(args.flags), Operands: texts(args.operands),
		Wrappers: append([]string{}, inv.wrappers...), Assigns: assigns}
	a.effect.reset(a.overlay, a.about(name), args, inv.sc)
	e := a.effect.collect(name, grammarOf(a.about(name).Own.Grammar).effects)
	c.Reads = value.Sorted(append(e.reads, inv.files.reads...))
	c.Writes = value.Sorted(append(e.writes, inv.files.writes...))
	a.loses = append(a.loses, e.lost...)
	a.reads, a.writes = append(a.reads, c.Reads...), append(a.writes, c.Writes...)
	a.hosts = append(a.hosts, e.hosts...)
	a.spend(len(c.Argv) + len(assigns))
	a.calls = append(a.calls, made{Call: c})
	a.transfer(inv, name, args, &c)
	a.link(inv, name, args)
	inv.made = len(a.calls)
}

// enterFunction reads a function's body for this call of it.
func (a *analysis) enterFunction(f *function, inv invocation) result {
	if f.active > 0 && a.aside > f.aside {
		a.feature(value.FeatureForkBomb)
	}
	if f.active >= maxRecursion || !a.spend(4) {
		return result{out: unknown(value.Taint{})}
	}
	f.called = true
	outside := f.aside
	f.aside = a.aside
	f.active++
	defer func() { f.active--; f.aside = outside }()
	sc := inv.sc
	args, known, around := sc.args, sc.argsKnown, a.locals
	sc.args, sc.argsKnown, a.locals = inv.argv[1:], true, &locals{sc: sc}
	r := a.statement(f.body, sc, inv.in)
	a.locals.restore()
	sc.args, sc.argsKnown, a.locals = args, known, around
	a.reads, a.writes = append(a.reads, inv.files.reads...), append(a.writes, inv.files.writes...)
	r.ends = false
	return r
}

// nested reads a text that an interpreter gets, in scope sc.
func (a *analysis) nested(code word, sc *scope, wrappers []string, in stream) result {
	a.ran(code.Taint)
	a.texts += len(code.text)
	if !code.known {
		code = withFreshNames(code, sc)
	}
	if !code.known || a.texts > maxTexts {
		a.hide()
		return result{out: unknown(code.Taint)}
	}
	stmts, err := parse(code.text, MaxSteps)
	if err != nil || !a.spend(1+len(code.text)/256) {
		a.hide()
		return result{out: unknown(code.Taint)}
	}
	outer := a.wrappers
	a.wrappers = wrappers
	r := a.statements(stmts, sc, in)
	a.wrappers = outer
	r.lead = ""
	return r
}

// argumentsOf reads the arguments of a program by its name.
func (a *analysis) argumentsOf(name string, words []word) *arguments {
	e := a.about(name)
	if reads := grammarOf(e.Own.Grammar).arguments; reads != nil {
		return reads(words, e.Described)
	}
	return parseArguments(words, e.Described)
}

// about is all that is known of a program. The last one is kept, since a call asks often.
func (a *analysis) about(name string) *programs.Entry {
	if a.entry == nil || a.entry.Name != name {
		a.entry = programs.Look(name)
	}
	return a.entry
}
