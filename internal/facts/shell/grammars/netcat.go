package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// netcat runs what "-e" names, with all that the other side sends as its input.
func (rd *Reader) netcat(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	code, ok := args.Value("-e", "-c", "--exec", "--sh-exec")
	if !ok {
		return call.Result{}, false
	}
	return rd.networkText(name, inv, code), true
}

// networkText reads shell text whose input comes from the network.
func (rd *Reader) networkText(name string, inv *call.Invocation, code word.Word) call.Result {
	in := *inv
	in.In = word.Unknown(value.Taint{Fetched: true})
	return rd.Text(name, &in, code, inv.Scope.Fork())
}
