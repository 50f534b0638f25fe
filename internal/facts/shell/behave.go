package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// behave does what a known program does with its arguments and its input.
func (a *analysis) behave(name string, inv *invocation, args *arguments) result {
	lang := a.about(name).Language
	if lang != "" && a.checksOnly(name, args) {
		return result{}
	}
	if lang == "shell" {
		return a.shell(name, inv, args)
	}
	if lang != "" {
		a.runsOptions(name, inv, args)
		a.tests(name, a.about(name).Own, inv, args)
		a.finds(name, inv, args)
		if project := a.about(name).Own.Project; project != "" {
			a.projectScripts(name, project, inv, args)
		}
		return a.language(name, lang, inv, args)
	}
	inv = a.reader.handingOn(a.about(name).Own.Environment, a.startingBeside(name, inv), args)
	a.runsOptions(name, inv, args)
	a.takes(name, inv, args)
	a.tests(name, a.about(name).Own, inv, args)
	a.startsAll(name, inv, args)
	a.finds(name, inv, args)
	a.runsProject(name, inv, args)
	a.fills(name, inv, args)
	if a.printsSetup(name, args) {
		return result{out: literal("")}
	}
	if r, ok := a.wrapper(name, inv, args); ok {
		return r
	}
	if r, ok := a.builtin(name, inv, args); ok {
		return r
	}
	a.suppose(name, inv)
	out := (&printer{a.overlay, a.about(name), a.escapes}).output(name, inv, args)
	out.Read = out.Read || a.shows(name, inv)
	return result{out: out}
}

// checksOnly says whether an interpreter only looks whether it could run a file. A further option may undo that, or run more.
func (a *analysis) checksOnly(name string, args *arguments) bool {
	own := a.about(name).Own
	return len(args.flags) == 1 && len(own.ReadsOnly) > 0 && args.has(own.ReadsOnly...) && len(args.operands) > 0 &&
		!slices.ContainsFunc(args.all, mayBeOption)
}

// mayBeOption says that a word which is not known may turn out to be an option.
func mayBeOption(w word) bool {
	return (!w.known || w.glob) && !strings.HasPrefix(w.text, "/") && !strings.HasPrefix(w.text, "./")
}

// printsSetup says whether what a program prints are settings for the shell that started it, or how that
// completes its words: to run that text is no more than to run the program.
func (a *analysis) printsSetup(name string, args *arguments) bool {
	about := a.about(name)
	words := about.Own.Setup
	always := slices.Contains(words, "*")
	if len(args.operands) == 0 || !args.operands[0].known {
		return always
	}
	first := args.operands[0].text
	return always && about.Own.Wraps == "" || slices.Contains(words, first) ||
		(first == "completion" || first == "completions") && about.Described.Operands == "" && about.Own.Output == ""
}

// shows says whether a call writes out what is in files that it reads.
func (a *analysis) shows(name string, inv *invocation) bool {
	if inv.made == 0 || len(a.calls[inv.made-1].Reads) == 0 {
		return false
	}
	operands, output := a.about(name).Described.Operands, a.about(name).Own.Output
	return output != programs.Report && output != programs.Listed && output != programs.Named &&
		(operands == programs.Reads || operands == programs.Script)
}

// inner invokes the command inside a wrapper.
func (a *analysis) inner(name string, inv *invocation, argv []word) result {
	if len(argv) == 0 {
		return result{out: unknown(value.Taint{})}
	}
	in := *inv
	in.argv, in.direct = argv, true
	in.wrappers = append(slices.Clip(inv.wrappers), name)
	in.files = redirections{in: inv.files.in, out: inv.files.out, appends: inv.files.appends, takesOutput: inv.files.takesOutput}
	return a.invoke(in)
}

// text reads shell text that a wrapper runs.
func (a *analysis) text(name string, inv *invocation, code word, sc *scope) result {
	return a.nested(code, sc, append(slices.Clip(inv.wrappers), name), inv.in)
}

// isPlusC finds "+c", which bash takes as "-c", among other letters.
func isPlusC(flag string) bool { return strings.HasPrefix(flag, "+") && strings.Contains(flag, "c") }

// shell reads what "sh -c TEXT", "sh FILE" and "sh" with an input run.
func (a *analysis) shell(name string, inv *invocation, args *arguments) result {
	sc := inv.sc.fork()
	sc.args, sc.argsKnown = nil, true
	a.runsOptions(name, inv, args)
	if len(args.operands) > 0 && args.operands[0].text == "-" { // ends the options, like "--"
		args.operands = args.operands[1:]
	}
	if w, ok := args.value("-O"); ok {
		a.globs.Star, a.globs.Fold = a.globs.Star || w.text == "globstar", a.globs.Fold || w.text == "nocaseglob"
	}
	a.globs.Star = a.globs.Star || name == "zsh" || name == "fish"
	if args.has("-c") || slices.ContainsFunc(args.flags, isPlusC) {
		if len(args.operands) == 0 {
			return result{}
		}
		if len(args.operands) > 1 {
			sc.name, sc.args = args.operands[1], args.operands[2:]
		}
		return a.text(name, inv, args.operands[0], sc)
	}
	if len(args.operands) > 0 && !args.has("-s") && !a.isInput(args.operands[0], inv.sc) {
		sc.name = args.operands[0]
		sc.args = args.operands[1:]
		return a.script(name, inv, args.operands[0], sc)
	}
	if !inv.in.present {
		return result{out: unknown(value.Taint{})}
	}
	return a.input(name, inv, sc)
}

// input reads shell text that arrives on standard input.
func (a *analysis) input(name string, inv *invocation, sc *scope) result {
	in := inv.in
	inv.in = stream{} // the text takes it up
	sc.open = sc.open.without(input)
	return a.runsStream(name, inv, in, sc)
}

// runsStream reads shell text that flows from somewhere.
func (a *analysis) runsStream(name string, inv *invocation, s stream, sc *scope) result {
	a.runs(s.path, s.file)
	if s.isElsewhere() && !strings.Contains(s.path, "$") {
		return result{out: unknown(value.Taint{})}
	}
	return a.streamText(name, inv, s, sc)
}

func (a *analysis) streamText(name string, inv *invocation, s stream, sc *scope) (r result) {
	a.reading(s, func() { sc.inFile(s, func() { r = a.text(name, inv, s.word(), sc) }) })
	return r
}

// script reads the file that a shell runs, if the text itself wrote it.
func (a *analysis) script(name string, inv *invocation, file word, sc *scope) result {
	if s, ok := a.hands(file, inv.in, inv.sc); ok {
		return a.runsStream(name, inv, s, sc)
	}
	p := a.fileToRun(file, inv)
	for _, there := range a.formerly(inv, file) {
		s, _ := a.foundIn(a.fileAt(file, there.sc))
		a.streamText(name, there, s, there.sc)
	}
	a.runsEach(file, inv.sc, func(_ string, s stream) { a.streamText(name, inv, s, sc.fork()) })
	s, ok := a.runnable(p, a.fileAt(file, inv.sc))
	beside := *inv
	a.starts(p, func(s stream) { a.text(name, &beside, s.word(), sc.fork()) })
	if !ok {
		return result{out: unknown(value.Taint{})}
	}
	return a.streamText(name, inv, s, sc)
}

// fileToRun is the path of a file that is run; one that is not known hides what runs.
func (a *analysis) fileToRun(file word, inv *invocation) string {
	if _, ok := programName(file); !ok {
		a.ran(file.Taint)
		a.hide()
	}
	return a.runsFile(file, inv.sc)
}

// alias reads what names are made to stand for.
func (a *analysis) alias(inv *invocation, args *arguments) {
	for _, w := range args.operands {
		name, value, ok := strings.Cut(w.text, "=")
		if !ok {
			continue
		}
		a.text("alias", inv, part(w, value), inv.sc.fork())
		if a.aliases == nil {
			a.aliases = map[string]string{}
		}
		switch {
		case strings.ContainsAny(value, "|&;<>()$`\\\"'\n"):
		case len(a.aliases) >= maxVariables:
			a.hide()
		default:
			a.aliases[name] = value
		}
	}
}

func (a *analysis) changeFolder(inv *invocation, args *arguments) {
	if len(args.operands) > 0 {
		inv.sc.leave()
	}
	left := variable{lost: true}
	if !inv.sc.astray && inv.sc.cwd != "" {
		left = variable{list: []word{known(inv.sc.cwd)}}
	}
	defer func() { inv.sc.set("OLDPWD", left) }()
	switch {
	case len(args.operands) == 0:
		inv.sc.cwd, inv.sc.astray = "~", false
	case args.operands[0].text == "-" && inv.sc.vars["OLDPWD"].known() && len(inv.sc.vars["OLDPWD"].list) == 1:
		inv.sc.cwd, inv.sc.astray = inv.sc.vars["OLDPWD"].list[0].text, false
	case args.operands[0].text == "-" || args.operands[0].text == "$(…)": // such as $(git rev-parse --show-toplevel)
		inv.sc.stray()
	default:
		folder := args.operands[0]
		if args.has("-P") {
			*inv.sc = *a.standing(folder, inv.sc)
			break
		}
		sought := slices.Contains(a.assigns, "CDPATH") && !strings.HasPrefix(folder.text, ".")
		if sought {
			a.hide()
		}
		inv.sc.astray = !rooted(folder.text) && (inv.sc.astray || sought) || strings.HasPrefix(folder.text, "~") && !folder.home
		inv.sc.cwd = a.path(folder, inv.sc)
	}
	if len(inv.sc.cwd) > maxPath {
		inv.sc.stray()
	}
}

func (a *analysis) source(name string, inv *invocation, args *arguments) result {
	if len(args.operands) == 0 {
		return result{}
	}
	file := args.operands[0]
	if a.isInput(file, inv.sc) {
		return a.input(name, inv, inv.sc)
	}
	if slices.Contains(a.assigns, "PATH") && !strings.Contains(file.text, "/") && file.source == nil {
		a.files = append(a.files, "$PATH/"+file.text)
	}
	return a.script(name, inv, file, inv.sc)
}

func (a *analysis) setArguments(inv *invocation) {
	for i, w := range inv.argv[1:] {
		if strings.HasPrefix(w.text, "-") && strings.Contains(w.text, "k") { // assignments then stand anywhere in a call
			a.hide()
		}
		if w.text == "--" {
			inv.sc.args = inv.argv[i+2:]
			return
		}
		if !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "+") {
			if i == 0 || !strings.HasSuffix(inv.argv[i].text, "o") {
				inv.sc.args = inv.argv[i+1:]
				return
			}
		}
	}
}

func (a *analysis) shift(inv *invocation, args *arguments) {
	n := 1
	if len(args.operands) > 0 {
		var err error
		if n, err = strconv.Atoi(args.operands[0].text); err != nil || n < 0 {
			inv.sc.argsKnown = false
			return
		}
	}
	inv.sc.args = inv.sc.args[min(n, len(inv.sc.args)):]
}

func (a *analysis) printInto(inv *invocation, args *arguments) (result, bool) {
	name, ok := args.value("-v")
	if !ok {
		return result{}, false
	}
	a.again(name)
	out := printed(args.operands)
	a.whole(out)
	w := out.word()
	w.text, _, _ = strings.Cut(w.text, "\x00")
	a.assign(name.text, variable{list: []word{shownAs(w, name.text)}}, inv.sc)
	return result{out: literal("")}, true
}

// completes reads what "compgen" runs and expands.
func (a *analysis) completes(name string, inv *invocation, args *arguments) {
	for _, o := range args.options {
		switch {
		case o.name == "-C":
			a.text(name, inv, o.value, inv.sc.fork())
		case o.name == "-W" && expands(o.value.text), o.name == "-W" && hasProcess(o.value.text), o.name == "-F":
			a.hide()
		}
	}
}
