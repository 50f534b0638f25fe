package shell

import (
	"regexp"
	"strings"
)

var sedExec = regexp.MustCompile(`(?m)(?:^|;|\d|\$|/)\s*e\s+(\S[^;\n]*)`)

// sed runs what its "e" command names.
func (a *analysis) sed(_ string, inv *invocation, args *arguments) (result, bool) {
	scripts := args.operands
	if _, given := args.value("-e", "--expression", "-f", "--file"); given {
		scripts = nil
		for _, o := range args.options {
			if o.name == "-e" || o.name == "--expression" {
				scripts = append(scripts, o.value)
			}
		}
	} else {
		scripts = scripts[:min(1, len(scripts))]
	}
	for _, w := range scripts {
		if strings.HasPrefix(w.text, "s") {
			continue
		}
		for _, m := range sedExec.FindAllStringSubmatch(w.text, -1) {
			a.text("sed", inv, part(w, m[1]), inv.sc.fork())
		}
	}
	return result{out: stream{present: true, Taint: inv.in.Taint}}, true
}

// sed changes its files in place with -i.
func (e *effect) sed(string) {
	if e.args.has("-i", "--in-place") {
		e.write(e.afterScript(e.args.operands)...)
	}
}
