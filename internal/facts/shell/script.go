package shell

import "github.com/bailiff-dev/bailiff/internal/facts/value"

// scriptOf is "script": it gives the text of its option to a shell.
func (a *analysis) scriptOf(name string, inv *invocation, args *arguments) (result, bool) {
	if code, given := args.value("-c", "--command"); given {
		return a.text(name, inv, code, inv.sc.fork()), true
	}
	return result{out: unknown(value.Taint{})}, true
}
