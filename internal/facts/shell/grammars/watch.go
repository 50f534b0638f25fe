package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// watch gives its operands to a shell, as one text.
func (rd *Reader) watch(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	return rd.Text(name, inv, word.Join(args.Rest, " "), inv.Scope.Fork()), true
}
