package shell

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// vim runs what "+CMD" names; what "-c CMD" and a file of commands name is a text of its own
// commands, too.
func (rd *reader) vim(name string, inv *invocation, args *arguments) (result, bool) {
	for _, o := range args.options {
		if s, ok := rd.programIn(o.value, inv.in, inv.sc); ok && (o.name == "-S" || o.name == "-u") {
			rd.reading(s, func() { rd.commands(name, programs.Of(name), inv, s) })
		}
	}
	for _, w := range inv.argv[1:] {
		if code, ok := strings.CutPrefix(w.text, "+"); ok {
			rd.commands(name, programs.Of(name), inv, stream{present: true, text: code, known: true, Taint: w.Taint})
		}
	}
	return result{out: unknown(value.Taint{})}, true
}

var (
	vimCalls = regexp.MustCompile(`\b(?:system|systemlist|job_start|jobstart|term_start|termopen|execute|popen|getoutput|call|run)` +
		`\s*\(\s*\[?`)
	vimTerms = regexp.MustCompile(`(?m)(?:^|[|:\s])te(?:rm|rminal)?\s+(?:\+\+\S+\s+)*([^|]+)$`)
	vimShell = regexp.MustCompile(`(?m)^[\s:]*(?:sh|shell|te|term|terminal)\s*$`)
	vimLoses = regexp.MustCompile(`\bdelete\s*\(\s*(?:expand\s*\(\s*)?([^,)]*)\)?\s*(?:,\s*['"](\w+)['"])?`)
)

// vimFunctions reads the calls in commands of vim that start programs and delete files.
func (rd *reader) vimFunctions(name string, inv *invocation, s stream) {
	for _, at := range vimCalls.FindAllStringIndex(s.text, -1) {
		if text, ok := vimText(s.text[at[1]:]); ok {
			rd.text(name, inv, word{text: text, known: true, Taint: s.Taint}, inv.sc.fork())
		} else {
			rd.hide()
		}
	}
	if vimShell.MatchString(s.text) {
		rd.text(name, inv, word{text: "sh", known: true, Taint: s.Taint}, inv.sc.fork())
	}
	for _, found := range vimTerms.FindAllStringSubmatch(s.text, -1) {
		rd.text(name, inv, word{text: found[1], known: true, Taint: s.Taint}, inv.sc.fork())
	}
	for _, found := range vimLoses.FindAllStringSubmatch(s.text, -1) {
		how := "rm "
		if strings.Contains(found[2], "r") {
			how = "rm -r "
		}
		rd.text(name, inv, word{text: how + vimExpression(found[1]), known: true, Taint: s.Taint}, inv.sc.fork())
	}
}

// vimText is the string at the start of an expression; a double quote has escapes.
func vimText(s string) (string, bool) {
	if strings.HasPrefix(s, "'") {
		text, _, ok := strings.Cut(s[1:], "'")
		return text, ok
	}
	return quotedText(s)
}

// vimExpression is a path that an expression of vim makes, as a shell spells it: strings
// and variables, joined by dots.
func vimExpression(s string) string {
	var out strings.Builder
	for _, piece := range vimJoins.Split(strings.TrimSpace(s), -1) {
		out.WriteString(strings.Trim(strings.TrimSpace(piece), `'"`))
	}
	return out.String()
}

var vimJoins = regexp.MustCompile(`\s+\.{1,2}\s+|(?:['"])\.{1,2}|\.{1,2}(?:['"])`)
