package loads

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
func (ld *Loader) moduleLine(name, module string, inv *call.Invocation, args *call.Arguments) bool {
	p := programs.Of("python -m " + module)
	if p == &programs.Undescribed {
		return false
	}
	words := call.ParseArguments(languages.AfterModule(args.All), p)
	ld.ReadTests(name, p, inv, words)
	e := effects.New(ld.FS, inv.Scope)
	e.Own, e.Args = p, words
	for _, o := range words.Options {
		e.Option(o, p)
		if slices.Contains(p.Texts, o.Name) && !p.Plain.All(o.Value.Text) {
			ld.ReadInline(name, "python", inv, o.Value)
		}
	}
	e.Operands(p.Operands)
	ld.AddToCall(inv.Number, e.Reads, e.Writes)
	ld.Hosts = append(ld.Hosts, e.Hosts...)
	if slices.Contains(p.Texts, "operands") && len(words.Operands) > 0 {
		ld.ReadInline(name, "python", inv, word.Join(words.Operands, "\n"))
	}
	if p.Language != "" && len(words.Operands) > 0 && !words.Has("-m", "--module") {
		ld.runFile(name, p.Language, inv, words.Operands[0])
	}
	if p.Input == programs.ItsProgram && inv.In.Present {
		ld.runStream(name, "python", inv, inv.In)
	}
	return true
}
