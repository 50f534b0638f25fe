package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/expand"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/output"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/parse"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// runProgram does what a known program does with its arguments and its input.
func (a *analysis) runProgram(name string, inv *call.Invocation, args *call.Arguments) call.Result {
	lang := a.About(name).Language
	if lang != "" && a.isCheck(name, args) {
		return call.Result{}
	}
	if lang == "shell" {
		return a.shell(name, inv, args)
	}
	if lang != "" {
		a.ReadOptions(name, inv, args)
		a.ReadTests(name, a.About(name).Own, inv, args)
		a.ReadOwnFiles(name, inv, args)
		if project := a.About(name).Own.Project; project != "" {
			a.ReadScripts(name, project, inv, args)
		}
		return a.ReadLanguage(name, lang, inv, args)
	}
	inv = a.reader.Environment(a.About(name).Own.Environment, a.WithProjectPath(name, inv), args)
	a.ReadOptions(name, inv, args)
	a.ReadInputs(name, inv, args)
	a.ReadTests(name, a.About(name).Own, inv, args)
	a.ReadFolders(name, inv, args)
	a.ReadOwnFiles(name, inv, args)
	a.ReadProject(name, inv, args)
	a.NoteContents(name, inv, args)
	a.supposeFiles(name, inv)
	a.supposeProgram(name, inv, args)
	if a.printsSetup(name, args) {
		return call.Result{Out: word.Literal("")}
	}
	if r, ok := a.wrapper(name, inv, args); ok {
		return r
	}
	if r, ok := a.builtin(name, inv, args); ok {
		return r
	}
	a.suppose(name, inv)
	out := (&output.Printer{FS: a.FS, Entry: a.About(name), Escapes: a.escapes}).Output(name, inv, args)
	out.Read = out.Read || a.shows(name, inv)
	return call.Result{Out: out}
}

// isCheck says whether an interpreter only looks whether it could run a file. A further option may undo that, or run more.
func (a *analysis) isCheck(name string, args *call.Arguments) bool {
	own := a.About(name).Own
	return len(args.Flags) == 1 && len(own.ReadsOnly) > 0 && args.Has(own.ReadsOnly...) && len(args.Operands) > 0 &&
		!slices.ContainsFunc(args.All, mayBeOption)
}

// mayBeOption says that a word which is not known may turn out to be an option.
func mayBeOption(w word.Word) bool {
	return (!w.Known || w.Glob) && !strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "./")
}

// printsSetup says whether what a program prints are settings for the shell that started it, or how that
// completes its words: to run that text is no more than to run the program.
func (a *analysis) printsSetup(name string, args *call.Arguments) bool {
	about := a.About(name)
	words := about.Own.Setup
	always := slices.Contains(words, "*")
	if len(args.Operands) == 0 || !args.Operands[0].Known {
		return always
	}
	first := args.Operands[0].Text
	return always && about.Own.Wraps == "" || slices.Contains(words, first) ||
		(first == "completion" || first == "completions") && about.Described.Operands == "" && about.Own.Output == ""
}

// shows says whether a call writes out what is in files that it reads.
func (a *analysis) shows(name string, inv *call.Invocation) bool {
	if inv.Number == 0 || len(a.Calls[inv.Number-1].Reads) == 0 {
		return false
	}
	operands, output := a.About(name).Described.Operands, a.About(name).Own.Output
	return output != programs.Report && output != programs.Listed && output != programs.Named &&
		(operands == programs.Reads || operands == programs.Script)
}

// Text reads shell text that a wrapper runs.
func (a *analysis) Text(name string, inv *call.Invocation, code word.Word, sc *state.Scope) call.Result {
	return a.readText(code, sc, append(slices.Clip(inv.Wrappers), name), inv.In)
}

// isPlusC finds "+c", which bash takes as "-c", among other letters.
func isPlusC(flag string) bool { return strings.HasPrefix(flag, "+") && strings.Contains(flag, "c") }

// shell reads what "sh -c TEXT", "sh FILE" and "sh" with an input run.
func (a *analysis) shell(name string, inv *call.Invocation, args *call.Arguments) call.Result {
	sc := inv.Scope.Fork()
	sc.Args, sc.ArgsKnown = nil, true
	a.ReadOptions(name, inv, args)
	if len(args.Operands) > 0 && args.Operands[0].Text == "-" { // ends the options, like "--"
		args.Operands = args.Operands[1:]
	}
	if w, ok := args.Value("-O"); ok {
		a.Globs.Star, a.Globs.Fold = a.Globs.Star || w.Text == "globstar", a.Globs.Fold || w.Text == "nocaseglob"
	}
	a.Globs.Star = a.Globs.Star || name == "zsh" || name == "fish"
	if args.Has("-c") || slices.ContainsFunc(args.Flags, isPlusC) {
		if len(args.Operands) == 0 {
			return call.Result{}
		}
		if len(args.Operands) > 1 {
			sc.Name, sc.Args = args.Operands[1], args.Operands[2:]
		}
		return a.Text(name, inv, args.Operands[0], sc)
	}
	if len(args.Operands) > 0 && !args.Has("-s") && !a.IsInput(args.Operands[0], inv.Scope) {
		sc.Name = args.Operands[0]
		sc.Args = args.Operands[1:]
		return a.script(name, inv, args.Operands[0], sc)
	}
	if !inv.In.Present {
		return call.Result{Out: word.Unknown(value.Taint{})}
	}
	return a.Input(name, inv, sc)
}

// Input reads shell text that arrives on standard input.
func (a *analysis) Input(name string, inv *call.Invocation, sc *state.Scope) call.Result {
	in := inv.In
	inv.In = word.Stream{} // the text takes it up
	sc.Descriptors = sc.Descriptors.Without(state.Input)
	return a.shellStream(name, inv, in, sc)
}

// shellStream reads shell text that flows from somewhere.
func (a *analysis) shellStream(name string, inv *call.Invocation, s word.Stream, sc *state.Scope) call.Result {
	a.Run(s.Path, s.File)
	if s.IsElsewhere() && !strings.Contains(s.Path, "$") {
		return call.Result{Out: word.Unknown(value.Taint{})}
	}
	return a.ReadStream(name, inv, s, sc)
}

// script reads the file that a shell runs, if the text itself wrote it.
func (a *analysis) script(name string, inv *call.Invocation, file word.Word, sc *state.Scope) call.Result {
	if s, ok := a.PseudoFile(file, inv.In, inv.Scope); ok {
		return a.shellStream(name, inv, s, sc)
	}
	p := a.ScriptFile(file, inv)
	for _, there := range a.FallbackCalls(inv, file) {
		s, _ := a.Lookup(a.FileAt(file, there.Scope))
		a.ReadStream(name, there, s, there.Scope)
	}
	a.EachMatch(file, inv.Scope, func(_ string, s word.Stream) { a.ReadStream(name, inv, s, sc.Fork()) })
	s, ok := a.Program(p, a.FileAt(file, inv.Scope))
	beside := *inv
	a.Start(p, func(s word.Stream) { a.Text(name, &beside, s.Word(), sc.Fork()) })
	if !ok {
		return call.Result{Out: word.Unknown(value.Taint{})}
	}
	return a.ReadStream(name, inv, s, sc)
}

// alias reads what names are made to stand for.
func (a *analysis) alias(inv *call.Invocation, args *call.Arguments) {
	for _, w := range args.Operands {
		name, value, ok := strings.Cut(w.Text, "=")
		if !ok {
			continue
		}
		a.Text("alias", inv, word.Part(w, value), inv.Scope.Fork())
		if a.aliases == nil {
			a.aliases = map[string]string{}
		}
		switch {
		case strings.ContainsAny(value, "|&;<>()$`\\\"'\n"):
		case len(a.aliases) >= state.MaxVariables:
			a.Hide()
		default:
			a.aliases[name] = value
		}
	}
}

func (a *analysis) changeFolder(inv *call.Invocation, args *call.Arguments) {
	if len(args.Operands) > 0 {
		inv.Scope.Leave()
	}
	left := state.Variable{Lost: true}
	if !inv.Scope.Astray && inv.Scope.Folder != "" {
		left = state.Variable{List: []word.Word{word.Of(inv.Scope.Folder)}}
	}
	defer func() { inv.Scope.Set("OLDPWD", left) }()
	switch {
	case len(args.Operands) == 0:
		inv.Scope.Folder, inv.Scope.Astray = "~", false
	case args.Operands[0].Text == "-" && inv.Scope.Variable("OLDPWD").IsKnown() && len(inv.Scope.Variable("OLDPWD").List) == 1:
		inv.Scope.Folder, inv.Scope.Astray = inv.Scope.Variable("OLDPWD").List[0].Text, false
	case args.Operands[0].Text == "-" || args.Operands[0].Text == "$(…)": // such as $(git rev-parse --show-toplevel)
		inv.Scope.Stray()
	default:
		folder := args.Operands[0]
		if args.Has("-P") {
			*inv.Scope = *a.ScopeIn(folder, inv.Scope)
			break
		}
		sought := slices.Contains(a.Assigns, "CDPATH") && !strings.HasPrefix(folder.Text, ".")
		if sought {
			a.Hide()
		}
		inv.Scope.Astray = !word.IsRooted(folder.Text) && (inv.Scope.Astray || sought) ||
			strings.HasPrefix(folder.Text, "~") && !folder.Home
		inv.Scope.Folder = a.Path(folder, inv.Scope)
	}
	if len(inv.Scope.Folder) > state.MaxPath {
		inv.Scope.Stray()
	}
}

func (a *analysis) source(name string, inv *call.Invocation, args *call.Arguments) call.Result {
	if len(args.Operands) == 0 {
		return call.Result{}
	}
	file := args.Operands[0]
	if a.IsInput(file, inv.Scope) {
		return a.Input(name, inv, inv.Scope)
	}
	if slices.Contains(a.Assigns, "PATH") && !strings.Contains(file.Text, "/") && file.Source == nil {
		a.Files = append(a.Files, "$PATH/"+file.Text)
	}
	return a.script(name, inv, file, inv.Scope)
}

func (a *analysis) setArguments(inv *call.Invocation) {
	for i, w := range inv.Argv[1:] {
		if strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "k") { // assignments then stand anywhere in a call
			a.Hide()
		}
		if w.Text == "--" {
			inv.Scope.Args = inv.Argv[i+2:]
			return
		}
		if !strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "+") {
			if i == 0 || !strings.HasSuffix(inv.Argv[i].Text, "o") {
				inv.Scope.Args = inv.Argv[i+1:]
				return
			}
		}
	}
}

func (a *analysis) shift(inv *call.Invocation, args *call.Arguments) {
	n := 1
	if len(args.Operands) > 0 {
		var err error
		if n, err = strconv.Atoi(args.Operands[0].Text); err != nil || n < 0 {
			inv.Scope.ArgsKnown = false
			return
		}
	}
	inv.Scope.Args = inv.Scope.Args[min(n, len(inv.Scope.Args)):]
}

func (a *analysis) printInto(inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	name, ok := args.Value("-v")
	if !ok {
		return call.Result{}, false
	}
	a.CheckIndex(name)
	out := output.PrintfText(args.Operands)
	a.NeedWhole(out)
	w := out.Word()
	w.Text, _, _ = strings.Cut(w.Text, "\x00")
	a.Assign(name.Text, state.Variable{List: []word.Word{expand.ShownAs(w, name.Text)}}, inv.Scope)
	return call.Result{Out: word.Literal("")}, true
}

// completes reads what "compgen" runs and expands.
func (a *analysis) completes(name string, inv *call.Invocation, args *call.Arguments) {
	for _, o := range args.Options {
		switch {
		case o.Name == "-C":
			a.Text(name, inv, o.Value, inv.Scope.Fork())
		case o.Name == "-W" && expand.HasExpansion(o.Value.Text), o.Name == "-W" && expand.HasProcess(o.Value.Text), o.Name == "-F":
			a.Hide()
		}
	}
}

// readText reads a text that an interpreter gets, in scope sc.
func (a *analysis) readText(code word.Word, sc *state.Scope, wrappers []string, in word.Stream) call.Result {
	a.NoteRun(code.Taint)
	fits := a.CountText(len(code.Text))
	if !code.Known {
		code = expand.WithTempNames(code, sc)
	}
	if !code.Known || !fits {
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
