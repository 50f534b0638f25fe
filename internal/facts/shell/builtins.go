package shell

import (
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/output"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// namesVariables are the commands of the shell that take names of variables, and so of elements.
var namesVariables = map[string]bool{
	"test": true, "[": true, "unset": true, "read": true, "mapfile": true, "readarray": true, "getopts": true, "wait": true, "let": true,
}

// builtin is a command of the shell itself: what it changes, and what it prints.
type builtin func(a *analysis, name string, inv *call.Invocation, args *call.Arguments) call.Result

// builtins are filled at the first use: what some of them run calls builtins in turn, which Go takes for a circle in the value of a
// variable.
var builtins map[string]builtin

var fillBuiltins sync.Once

func builtinsByName() map[string]builtin {
	return map[string]builtin{
		".": (*analysis).source, "source": (*analysis).source,
		"alias": silent((*analysis).alias),
		"at":    (*analysis).job, "batch": (*analysis).job,
		"break": (*analysis).leave, "continue": (*analysis).leave, "exit": (*analysis).leave, "return": (*analysis).leave,
		"cd": silent((*analysis).changeFolder), "chdir": silent((*analysis).changeFolder), "pushd": silent((*analysis).changeFolder),
		"compgen": (*analysis).completion,
		"eval":    (*analysis).eval,
		"getopts": (*analysis).getopts,
		"mapfile": (*analysis).readVariables, "read": (*analysis).readVariables, "readarray": (*analysis).readVariables,
		"mkfifo": (*analysis).mkfifo,
		"popd":   silent(func(_ *analysis, inv *call.Invocation, _ *call.Arguments) { inv.Scope.Stray() }),
		"set":    silent(func(a *analysis, inv *call.Invocation, _ *call.Arguments) { a.setArguments(inv) }),
		"shift":  silent((*analysis).shift),
		"shopt":  silent((*analysis).shopt),
		"trap":   (*analysis).trap,
		"unset":  silent((*analysis).unset),
	}
}

// silent is a builtin that prints nothing and needs no name.
func silent(change func(a *analysis, inv *call.Invocation, args *call.Arguments)) builtin {
	return func(a *analysis, _ string, inv *call.Invocation, args *call.Arguments) call.Result {
		change(a, inv, args)
		return call.Result{Out: word.Literal("")}
	}
}

// builtin does what changes the shell itself; it is false for a program that does not.
func (a *analysis) builtin(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	if namesVariables[name] {
		for _, w := range inv.Argv[1:] {
			a.CheckIndex(w)
		}
	}
	fillBuiltins.Do(func() { builtins = builtinsByName() })
	if run := builtins[name]; run != nil {
		return run(a, name, inv, args), true
	}
	if name == "printf" {
		return a.printInto(inv, args)
	}
	return call.Result{Out: word.Literal("")}, a.About(name).Own.Output == programs.Silent
}

func (a *analysis) eval(name string, inv *call.Invocation, _ *call.Arguments) call.Result {
	a.NoteFeature(value.FeatureEval)
	return a.readText(word.Join(inv.Argv[1:], " "), inv.Scope, append(slices.Clip(inv.Wrappers), name), inv.In)
}

func (a *analysis) completion(name string, inv *call.Invocation, args *call.Arguments) call.Result {
	a.completes(name, inv, args)
	return call.Result{Out: output.Completions(args)}
}

func (a *analysis) shopt(_ *call.Invocation, args *call.Arguments) {
	sets := func(option string) bool { return args.Has("-s") && slices.Contains(word.Texts(args.Operands), option) }
	a.Globs.Star = a.Globs.Star || sets("globstar")
	a.Globs.Fold = a.Globs.Fold || sets("nocaseglob")
	a.escapes = a.escapes || sets("xpg_echo")
}

func (a *analysis) unset(inv *call.Invocation, args *call.Arguments) {
	for _, w := range args.Operands {
		inv.Scope.Set(w.Text, state.Variable{List: []word.Word{word.Of("")}, Unset: true})
	}
}

func (a *analysis) getopts(_ string, inv *call.Invocation, args *call.Arguments) call.Result {
	for _, w := range word.After(args.Operands, 1) {
		a.Assigns = append(a.Assigns, w.Text)
		inv.Scope.Lose(w.Text)
	}
	return call.Result{Out: word.Literal("")}
}

func (a *analysis) readVariables(name string, inv *call.Invocation, args *call.Arguments) call.Result {
	a.readInto(name, inv, args)
	return call.Result{Out: word.Literal("")}
}

func (a *analysis) trap(name string, inv *call.Invocation, args *call.Arguments) call.Result {
	if len(args.Operands) > 1 && args.Operands[0].Text != "-" {
		within := inv.Scope.Fork()
		a.Text(name, inv, args.Operands[0], within)
		inv.Scope.MayBecome(within, args.Operands[1:])
		a.traps = append(a.traps, trap{args.Operands[0], append(slices.Clip(inv.Wrappers), name)})
	}
	return call.Result{Out: word.Literal("")}
}

// job reads what "at" and "batch" run later.
func (a *analysis) job(name string, inv *call.Invocation, _ *call.Arguments) call.Result {
	if inv.In.Present {
		a.Input(name, inv, inv.Scope.Fork())
	}
	return call.Result{Out: word.Literal("")}
}

func (a *analysis) leave(string, *call.Invocation, *call.Arguments) call.Result {
	return call.Result{Out: word.Literal(""), Ends: true}
}

func (a *analysis) mkfifo(_ string, inv *call.Invocation, args *call.Arguments) call.Result {
	for _, w := range args.Operands {
		a.Write(a.Path(w, inv.Scope), word.Unknown(value.Taint{}), false)
	}
	return call.Result{Out: word.Literal("")}
}

// readInto fills the variables of "read" and its like with their input.
func (a *analysis) readInto(name string, inv *call.Invocation, args *call.Arguments) {
	in := inv.In
	if number, ok := args.Value("-u"); ok {
		opened, _ := inv.Scope.Descriptors.At(number.Text)
		in = opened.In
	}
	a.NeedWhole(in)
	if name == "read" && (args.Has("-n", "-N", "-d", "-i") || !args.Has("-r") && strings.Contains(in.Text, `\`)) {
		in = word.Stream{Present: true, Items: in.Names(), Taint: in.Taint} // a part of it, or without the backslashes
	}
	into, array := args.Value("-a")
	switch names := args.Operands; {
	case array || name == "mapfile" || name == "readarray":
		if !array {
			into = word.First(append(names, word.Of("MAPFILE")))
		}
		a.Assign(into.Text, state.Variable{List: word.OneOf(in.Names()), Array: true, Lost: in.Names() == nil}, inv.Scope)
	case len(names) == 0:
		a.ReadLine([]word.Word{word.Of("REPLY")}, in, inv.Scope)
	default:
		a.ReadLine(names, in, inv.Scope)
	}
}
