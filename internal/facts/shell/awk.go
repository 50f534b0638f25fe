package shell

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// awk runs shell text by system(…) and by pipes to and from a string.
func (a *analysis) awk(name string, inv *invocation, args *arguments) (result, bool) {
	out := result{out: unknown(inv.in.Taint)}
	if _, file := args.value("-f", "--file"); file || len(args.operands) == 0 {
		return out, true
	}
	code := args.operands[0]
	if !strings.Contains(code.text, "system") && !strings.ContainsAny(code.text, "|") {
		return out, true
	}
	for _, at := range awkCalls.FindAllStringIndex(code.text, -1) {
		text, ok := quotedText(code.text[at[1]:])
		if !ok {
			a.hide()
			continue
		}
		a.feature(value.FeatureInlineProgram)
		fed := *inv
		fed.in = unknown(inv.in.Taint) // "print | CMD" writes to CMD
		a.text(name, &fed, part(code, text), inv.sc.fork())
	}
	for _, m := range awkPipes.FindAllStringSubmatch(code.text, -1) {
		a.text(name, inv, part(code, unescape(m[1], `"\`)), inv.sc.fork())
	}
	return out, true
}

var (
	awkCalls = regexp.MustCompile(`\bsystem\s*\(\s*|(?:print[^|\n;}]*[^|])\|&?\s*`)
	awkPipes = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline`)
)
