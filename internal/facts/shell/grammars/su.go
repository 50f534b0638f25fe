package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (rd *Reader) su(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	if code, ok := args.Value("-c", "--command", "--session-command"); ok {
		return rd.Text(name, inv, code, inv.Scope.Fork()), true
	}
	if name == "runuser" && args.Has("-u", "--user") {
		return rd.Inner(name, inv, args.Rest), true
	}
	if inv.In.Present {
		return rd.Input(name, inv, inv.Scope.Fork()), true
	}
	return call.Result{Out: word.Unknown(value.Taint{})}, true
}
