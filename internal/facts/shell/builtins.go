package shell

import (
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// namesVariables are the commands of the shell that take names of variables, and so of elements.
var namesVariables = map[string]bool{
	"test": true, "[": true, "unset": true, "read": true, "mapfile": true, "readarray": true, "getopts": true, "wait": true, "let": true,
}

// builtin is a command of the shell itself: what it changes, and what it prints.
type builtin func(a *analysis, name string, inv *invocation, args *arguments) result

// builtins are filled as grammars are.
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
		"popd":   silent(func(_ *analysis, inv *invocation, _ *arguments) { inv.sc.stray() }),
		"set":    silent(func(a *analysis, inv *invocation, _ *arguments) { a.setArguments(inv) }),
		"shift":  silent((*analysis).shift),
		"shopt":  silent((*analysis).shopt),
		"trap":   (*analysis).trap,
		"unset":  silent((*analysis).unset),
	}
}

// silent is a builtin that prints nothing and needs no name.
func silent(change func(a *analysis, inv *invocation, args *arguments)) builtin {
	return func(a *analysis, _ string, inv *invocation, args *arguments) result {
		change(a, inv, args)
		return result{out: literal("")}
	}
}

// builtin does what changes the shell itself; it is false for a program that does not.
func (a *analysis) builtin(name string, inv *invocation, args *arguments) (result, bool) {
	if namesVariables[name] {
		for _, w := range inv.argv[1:] {
			a.again(w)
		}
	}
	fillBuiltins.Do(func() { builtins = builtinsByName() })
	if run := builtins[name]; run != nil {
		return run(a, name, inv, args), true
	}
	if name == "printf" {
		return a.printInto(inv, args)
	}
	return result{out: literal("")}, a.about(name).Own.Output == programs.Silent
}

func (a *analysis) eval(name string, inv *invocation, _ *arguments) result {
	a.feature(value.FeatureEval)
	return a.nested(join(inv.argv[1:], " "), inv.sc, append(slices.Clip(inv.wrappers), name), inv.in)
}

func (a *analysis) completion(name string, inv *invocation, args *arguments) result {
	a.completes(name, inv, args)
	return result{out: completions(args)}
}

func (a *analysis) shopt(_ *invocation, args *arguments) {
	sets := func(option string) bool { return args.has("-s") && slices.Contains(texts(args.operands), option) }
	a.globs.Star = a.globs.Star || sets("globstar")
	a.globs.Fold = a.globs.Fold || sets("nocaseglob")
	a.escapes = a.escapes || sets("xpg_echo")
}

func (a *analysis) unset(inv *invocation, args *arguments) {
	for _, w := range args.operands {
		inv.sc.set(w.text, variable{list: []word{known("")}, gone: true})
	}
}

func (a *analysis) getopts(_ string, inv *invocation, args *arguments) result {
	for _, w := range after(args.operands, 1) {
		a.assigns = append(a.assigns, w.text)
		inv.sc.lose(w.text)
	}
	return result{out: literal("")}
}

func (a *analysis) readVariables(name string, inv *invocation, args *arguments) result {
	a.readInto(name, inv, args)
	return result{out: literal("")}
}

func (a *analysis) trap(name string, inv *invocation, args *arguments) result {
	if len(args.operands) > 1 && args.operands[0].text != "-" {
		within := inv.sc.fork()
		a.text(name, inv, args.operands[0], within)
		inv.sc.mayBecome(within, args.operands[1:])
		a.traps = append(a.traps, trap{args.operands[0], append(slices.Clip(inv.wrappers), name)})
	}
	return result{out: literal("")}
}

// job reads what "at" and "batch" run later.
func (a *analysis) job(name string, inv *invocation, _ *arguments) result {
	if inv.in.present {
		a.input(name, inv, inv.sc.fork())
	}
	return result{out: literal("")}
}

func (a *analysis) leave(string, *invocation, *arguments) result {
	return result{out: literal(""), ends: true}
}

func (a *analysis) mkfifo(_ string, inv *invocation, args *arguments) result {
	for _, w := range args.operands {
		a.keep(a.path(w, inv.sc), unknown(value.Taint{}), false)
	}
	return result{out: literal("")}
}

// readInto fills the variables of "read" and its like with their input.
func (a *analysis) readInto(name string, inv *invocation, args *arguments) {
	in := inv.in
	if number, ok := args.value("-u"); ok {
		opened, _ := inv.sc.open.at(number.text)
		in = opened.in
	}
	a.whole(in)
	if name == "read" && (args.has("-n", "-N", "-d", "-i") || !args.has("-r") && strings.Contains(in.text, `\`)) {
		in = stream{present: true, items: in.names(), Taint: in.Taint} // a part of it, or without the backslashes
	}
	into, array := args.value("-a")
	switch names := args.operands; {
	case array || name == "mapfile" || name == "readarray":
		if !array {
			into = first(append(names, known("MAPFILE")))
		}
		a.assign(into.text, variable{list: oneOf(in.names()), array: true, lost: in.names() == nil}, inv.sc)
	case len(names) == 0:
		a.readLine([]word{known("REPLY")}, in, inv.sc)
	default:
		a.readLine(names, in, inv.sc)
	}
}
