package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// vim runs what "-c '!CMD'" names.
func (a *analysis) vim(name string, inv *invocation, args *arguments) (result, bool) {
	for _, o := range args.options {
		if _, code, ok := strings.Cut(o.value.text, "!"); ok && (o.name == "-c" || o.name == "--cmd") {
			a.text(name, inv, part(o.value, code), inv.sc.fork())
		}
	}
	for _, w := range inv.argv[1:] {
		if code, ok := strings.CutPrefix(w.text, "+!"); ok {
			a.text(name, inv, part(w, code), inv.sc.fork())
		}
	}
	return result{out: unknown(value.Taint{})}, true
}
