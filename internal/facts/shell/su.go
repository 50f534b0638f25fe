package shell

import "github.com/bailiff-dev/bailiff/internal/facts/value"

func (a *analysis) su(name string, inv *invocation, args *arguments) (result, bool) {
	if code, ok := args.value("-c", "--command", "--session-command"); ok {
		return a.text(name, inv, code, inv.sc.fork()), true
	}
	if name == "runuser" && args.has("-u", "--user") {
		return a.inner(name, inv, args.rest), true
	}
	if inv.in.present {
		return a.input(name, inv, inv.sc.fork()), true
	}
	return result{out: unknown(value.Taint{})}, true
}
