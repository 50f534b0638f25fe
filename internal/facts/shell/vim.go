package shell

import (
	"regexp"
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
	for _, o := range args.options {
		if s, ok := a.programIn(o.value, inv); ok && (o.name == "-S" || o.name == "-u") {
			a.reading(s, func() { a.vimScript(name, inv, s) })
		}
	}
	for _, w := range inv.argv[1:] {
		if code, ok := strings.CutPrefix(w.text, "+!"); ok {
			a.text(name, inv, part(w, code), inv.sc.fork())
		}
	}
	return result{out: unknown(value.Taint{})}, true
}

// vimCommand finds the shell text that a line of a script of vim's runs.
var vimCommand = regexp.MustCompile(`(?m)^[\s:]*(?:sil(?:ent)?!?\s+)?(?:[rw]\s*)?!(.+)$`)

// vimScript reads a script of vim's as far as it runs shell text; the rest tells nothing.
func (a *analysis) vimScript(name string, inv *invocation, s stream) {
	a.hide()
	for _, found := range vimCommand.FindAllStringSubmatch(s.text, maxItems) {
		a.text(name, inv, word{text: found[1], known: s.known, Taint: s.Taint}, inv.sc.fork())
	}
}
