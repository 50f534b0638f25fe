package grammars

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// vim runs what "+CMD" names; what "-c CMD" and a file of commands name is a text of its own
// commands, too.
func (rd *Reader) vim(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	for _, o := range args.Options {
		if s, ok := rd.ProgramIn(o.Value, inv.In, inv.Scope); ok && (o.Name == "-S" || o.Name == "-u") {
			rd.ReadIn(s, func() { rd.Commands(name, programs.Of(name), inv, s) })
		}
	}
	if keys := typedFile(name, args); keys.Text != "" {
		rd.RunFile(keys, inv.Scope)
		if s, ok := rd.ProgramIn(keys, inv.In, inv.Scope); ok {
			rd.ReadIn(s, func() { rd.Commands(name, programs.Of(name), inv, s) })
		}
	}
	for _, w := range inv.Argv[1:] {
		if code, ok := strings.CutPrefix(w.Text, "+"); ok {
			rd.Commands(name, programs.Of(name), inv, word.Stream{Present: true, Text: code, Known: true, Taint: w.Taint})
		}
	}
	return call.Result{Out: word.Unknown(value.Taint{})}, true
}

// typedFile is the file whose content vim takes for what is typed; where it is a line editor the option has no file.
func typedFile(name string, args *call.Arguments) word.Word {
	if name == "ex" || args.Has("-e", "-E") {
		return word.Word{}
	}
	for i, w := range args.All[:max(0, len(args.All)-1)] {
		if w.Text == "-s" {
			return args.All[i+1]
		}
	}
	return word.Word{}
}

var (
	vimCalls = regexp.MustCompile(`\b(?:system|systemlist|job_start|jobstart|term_start|termopen|execute|popen|getoutput|call|run)` +
		`\s*\(\s*\[?`)
	vimTerms = regexp.MustCompile(`(?m)(?:^|[|:\s])te(?:rm|rminal)?\s+(?:\+\+\S+\s+)*([^|]+)$`)
	vimShell = regexp.MustCompile(`(?m)^[\s:]*(?:sh|shell|te|term|terminal)\s*$`)
	vimLoads = regexp.MustCompile(`\blibcall(?:nr)?\s*\(`)
	vimLoses = regexp.MustCompile(`\bdelete\s*\(\s*(?:expand\s*\(\s*)?([^,)]*)\)?\s*(?:,\s*['"](\w+)['"])?`)
)

// VimFunctions reads the calls in commands of vim that start programs and delete files.
func (rd *Reader) VimFunctions(name string, inv *call.Invocation, s word.Stream) {
	for _, at := range vimCalls.FindAllStringIndex(s.Text, -1) {
		if text, ok := vimText(s.Text[at[1]:]); ok {
			rd.Text(name, inv, word.Word{Text: text, Known: true, Taint: s.Taint}, inv.Scope.Fork())
		} else {
			rd.Hide()
		}
	}
	if vimLoads.MatchString(s.Text) {
		rd.Hide()
	}
	if vimShell.MatchString(s.Text) {
		rd.Text(name, inv, word.Word{Text: "sh", Known: true, Taint: s.Taint}, inv.Scope.Fork())
	}
	for _, found := range vimTerms.FindAllStringSubmatch(s.Text, -1) {
		rd.Text(name, inv, word.Word{Text: found[1], Known: true, Taint: s.Taint}, inv.Scope.Fork())
	}
	for _, found := range vimLoses.FindAllStringSubmatch(s.Text, -1) {
		how := "rm "
		if strings.Contains(found[2], "r") {
			how = "rm -r "
		}
		rd.Text(name, inv, word.Word{Text: how + vimExpression(found[1]), Known: true, Taint: s.Taint}, inv.Scope.Fork())
	}
}

// vimText is the string at the start of an expression; a double quote has escapes.
func vimText(s string) (string, bool) {
	if strings.HasPrefix(s, "'") {
		text, _, ok := strings.Cut(s[1:], "'")
		return text, ok
	}
	return word.StringAt(s)
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
