package shell

import (
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// scriptOf is "script": it gives the text of its option to a shell.
func (rd *reader) scriptOf(name string, inv *invocation, args *arguments) (result, bool) {
	if code, given := args.value("-c", "--command"); given {
		return rd.text(name, inv, code, inv.sc.fork()), true
	}
	return result{out: unknown(value.Taint{})}, true
}
