package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (a *analysis) parallel(_ string, inv *invocation, args *arguments) (result, bool) {
	argv := args.rest
	var items []word
	for i, w := range argv {
		if strings.HasPrefix(w.text, ":::") {
			argv, items = argv[:i], argv[i+1:]
			break
		}
	}
	if items == nil && len(argv) == 0 && inv.in.present {
		return a.text("parallel", inv, inv.in.word(), inv.sc.fork()), true // a command a line
	}
	if items == nil && inv.in.present {
		items = a.inputWords(inv.in)
	}
	if len(argv) == 0 {
		for _, w := range items {
			a.text("parallel", inv, w, inv.sc.fork())
		}
		return result{out: unknown(value.Taint{})}, true
	}
	code := join(argv, " ")
	if strings.Contains(code.text, "{}") {
		return a.text("parallel", inv, join(substitute(argv, "{}", items), " "), inv.sc.fork()), true
	}
	return a.text("parallel", inv, join(append(slices.Clone(argv), items...), " "), inv.sc.fork()), true
}
