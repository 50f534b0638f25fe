package shell

import (
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// moduleLine does what the command line of a module of Python's standard library does with
// its arguments; it is false for a module that is not described.
func (a *analysis) moduleLine(name, module string, inv *call.Invocation, args *call.Arguments) bool {
	p := programs.Of("python -m " + module)
	if p == &programs.Undescribed {
		return false
	}
	words := call.ParseArguments(languages.AfterModule(args.All), p)
	a.tests(name, p, inv, words)
	e := effects.New(a.FS, inv.Scope)
	e.Own, e.Args = p, words
	for _, o := range words.Options {
		e.Option(o, p)
		if slices.Contains(p.Texts, o.Name) {
			a.inline(name, "python", inv, o.Value)
		}
	}
	e.Operands(p.Operands)
	a.AddToCall(inv.Number, e.Reads, e.Writes)
	a.Hosts = append(a.Hosts, e.Hosts...)
	if slices.Contains(p.Texts, "operands") && len(words.Operands) > 0 {
		a.inline(name, "python", inv, word.Join(words.Operands, "\n"))
	}
	if p.Language != "" && len(words.Operands) > 0 && !words.Has("-m", "--module") {
		a.languageFile(name, p.Language, inv, words.Operands[0])
	}
	if p.Input == programs.ItsProgram && inv.In.Present {
		a.languageStream(name, "python", inv, inv.In)
	}
	return true
}
