package shell

import (
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (rd *reader) cluster(name string, inv *invocation, _ *arguments) (result, bool) {
	for i, w := range inv.argv {
		if w.text == "--" {
			in := *inv
			in.sc = &scope{argsKnown: true, steps: inv.sc.steps}
			return rd.inner(name, &in, inv.argv[i+1:]), true
		}
	}
	return result{out: unknown(value.Taint{})}, true
}
