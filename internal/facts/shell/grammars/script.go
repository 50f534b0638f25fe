package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// scriptOf is "script": it gives the text of its option to a shell.
func (rd *Reader) scriptOf(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	if code, given := args.Value("-c", "--command"); given {
		return rd.Text(name, inv, code, inv.Scope.Fork()), true
	}
	return call.Result{Out: word.Unknown(value.Taint{})}, true
}
