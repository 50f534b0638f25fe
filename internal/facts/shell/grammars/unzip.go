package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// unzip follows "unzip FILE -d DIR".
func (rd *Reader) unzip(_ string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	dir, given := args.Value("-d")
	if len(args.Operands) > 0 {
		rd.extracts(inv, rd.Stream(args.Operands[0], inv.Scope), dir, given)
	}
	return call.Result{Out: word.Unknown(inv.In.Taint)}, true
}

// unzipEffects: unzip writes below the current folder, where no option names another.
func unzipEffects(e *effects.Collector, _ string) {
	if _, given := e.Args.Value("-d"); !given && !e.Args.Has("-l", "-t", "-v", "-Z", "-p") {
		e.Write(word.Of("."))
	}
}
