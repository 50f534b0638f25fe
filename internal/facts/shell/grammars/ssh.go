package grammars

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// ssh runs its operands on another host.
func (rd *Reader) ssh(_ string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	if proxy, ok := args.Value("-o"); ok {
		if _, code, ok := strings.Cut(proxy.Text, "Command="); ok && code != "none" {
			rd.Text("ssh", inv, word.Part(proxy, code), inv.Scope.Fork())
		}
	}
	remote := inv.Scope.Elsewhere()
	if code := word.After(args.Rest, 1); len(code) > 0 {
		return rd.Text("ssh", inv, word.Join(code, " "), remote), true
	}
	if inv.In.Present && len(args.Operands) > 0 {
		return rd.Input("ssh", inv, remote), true
	}
	return call.Result{Out: word.Unknown(value.Taint{Fetched: true})}, true
}

// sshEffects: ssh connects to the host that comes first.
func sshEffects(e *effects.Collector, _ string) {
	if ops := e.Args.Operands; len(ops) > 0 {
		e.Host(value.BareHost(ops[0].Text))
	}
}
