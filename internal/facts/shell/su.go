package shell

import (
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (rd *reader) su(name string, inv *invocation, args *arguments) (result, bool) {
	if code, ok := args.value("-c", "--command", "--session-command"); ok {
		return rd.text(name, inv, code, inv.sc.fork()), true
	}
	if name == "runuser" && args.has("-u", "--user") {
		return rd.inner(name, inv, args.rest), true
	}
	if inv.in.present {
		return rd.input(name, inv, inv.sc.fork()), true
	}
	return result{out: unknown(value.Taint{})}, true
}
