package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// ssh runs its operands on another host.
func (rd *reader) ssh(_ string, inv *invocation, args *arguments) (result, bool) {
	if proxy, ok := args.value("-o"); ok {
		if _, code, ok := strings.Cut(proxy.text, "Command="); ok && code != "none" {
			rd.text("ssh", inv, part(proxy, code), inv.sc.fork())
		}
	}
	remote := &scope{argsKnown: true, steps: inv.sc.steps}
	if code := after(args.rest, 1); len(code) > 0 {
		return rd.text("ssh", inv, join(code, " "), remote), true
	}
	if inv.in.present && len(args.operands) > 0 {
		return rd.input("ssh", inv, remote), true
	}
	return result{out: unknown(value.Taint{Fetched: true})}, true
}

// ssh connects to the host that comes first.
func sshEffects(e *effect, _ string) {
	if ops := e.args.operands; len(ops) > 0 {
		e.host(value.BareHost(ops[0].text))
	}
}
