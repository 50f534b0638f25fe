package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// command is "command": it starts a program by its name, unless it is only asked where that lies.
func (rd *Reader) command(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	if !args.Has("-v", "-V") {
		return rd.Inner(name, inv, args.Rest), true
	}
	return rd.which(name, inv, args)
}

// which writes where a program lies; its name stands for that.
func (rd *Reader) which(_ string, _ *call.Invocation, args *call.Arguments) (call.Result, bool) {
	place := word.First(args.Operands).Text + "\n"
	return call.Result{Out: word.Stream{Present: true, Text: place, Known: len(args.Operands) == 1, OrNothing: true}}, true
}

// typeOf is "type": by -p and -P it writes where a program lies.
func (rd *Reader) typeOf(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	if !args.Has("-p", "-P") {
		return call.Result{}, false
	}
	return rd.which(name, inv, args)
}

// exec puts a program in the place of the shell.
func (rd *Reader) exec(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	if len(args.Rest) == 0 {
		inv.Redirections.Stay(inv.Scope)
		for _, p := range inv.Redirections.Out {
			rd.Write(p, word.Literal(""), inv.Redirections.Appends)
		}
		return call.Result{Out: word.Literal(""), Opens: true}, true
	}
	r := rd.Inner(name, inv, args.Rest)
	r.Ends = true
	return r, true
}

// sourceEffects: source reads the file that it runs.
func sourceEffects(e *effects.Collector, _ string) {
	if ops := e.Args.Operands; len(ops) > 0 {
		e.Read(ops[0])
	}
}
