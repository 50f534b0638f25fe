package shell

import (
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// netcat runs what "-e" names, with all that the other side sends as its input.
func (rd *reader) netcat(name string, inv *invocation, args *arguments) (result, bool) {
	code, ok := args.value("-e", "-c", "--exec", "--sh-exec")
	if !ok {
		return result{}, false
	}
	return rd.fed(name, inv, code), true
}

// fed reads shell text whose input comes from the network.
func (rd *reader) fed(name string, inv *invocation, code word) result {
	in := *inv
	in.in = unknown(value.Taint{Fetched: true})
	return rd.text(name, &in, code, inv.sc.fork())
}
