package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
)

// nixShell gives the text of its option to a shell.
func (rd *Reader) nixShell(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	code, ok := args.Value("--run", "--command")
	if !ok {
		return call.Result{}, false
	}
	return rd.Text(name, inv, code, inv.Scope.Fork()), true
}
