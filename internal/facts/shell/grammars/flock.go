package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// flock starts a command, or gives a text to a shell, once it holds a lock.
func (rd *Reader) flock(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	argv := word.After(args.Rest, 1)
	code, given := args.Value("-c", "--command")
	switch {
	case given:
		return rd.Text(name, inv, code, inv.Scope.Fork()), true
	case len(argv) > 1 && argv[0].Text == "-c":
		return rd.Text(name, inv, argv[1], inv.Scope.Fork()), true
	}
	return rd.Inner(name, inv, argv), true
}
