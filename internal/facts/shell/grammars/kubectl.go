package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (rd *Reader) cluster(name string, inv *call.Invocation, _ *call.Arguments) (call.Result, bool) {
	for i, w := range inv.Argv {
		if w.Text == "--" {
			in := *inv
			in.Scope = inv.Scope.Elsewhere()
			return rd.Inner(name, &in, inv.Argv[i+1:]), true
		}
	}
	return call.Result{Out: word.Unknown(value.Taint{})}, true
}
