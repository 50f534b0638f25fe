package expand

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
	"mvdan.cc/sh/v3/syntax"
)

// substitution is what $(…) stands for.
func (ex *Expander) substitution(p *syntax.CmdSubst, sc *state.Scope) word.Word {
	ex.NoteFeature(value.FeatureCommandSubstitution)
	if p.Backquotes && holdsBackquote(p) { // it may end there
		ex.Hide()
	}
	from := len(ex.Calls)
	inner := sc.Fork()
	inner.Descriptors = inner.Descriptors.Without(state.Output)
	out := ex.Substitute(p.Stmts, inner, word.Stream{})
	ex.Capture(from)
	ex.NeedWhole(out)
	if w, ok := ex.tempName(p); ok {
		return w
	}
	if out.Present && !out.Known {
		return word.Word{Text: "$(…)", Items: word.OneOf(out.Items), Taint: out.Taint}
	}
	return word.Word{Text: strings.TrimRight(strings.ReplaceAll(out.Text, "\x00", ""), "\n"), Known: true, Taint: out.Taint}
}

// holdsBackquote says that a text between backquotes has one more, in quotes or in a document.
func holdsBackquote(p *syntax.CmdSubst) (holds bool) {
	for _, s := range p.Stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.SglQuoted:
				holds = holds || strings.Contains(n.Value, "`")
			case *syntax.Lit:
				holds = holds || strings.Contains(n.Value, "`")
			}
			return !holds
		})
	}
	return holds
}

// process is what <(…) or >(…) stands for.
func (ex *Expander) process(p *syntax.ProcSubst, sc *state.Scope) word.Word {
	ex.NoteFeature(value.FeatureProcessSubstitution)
	if p.Op == syntax.CmdOut {
		ex.Substitute(p.Stmts, sc.Fork(), word.Unknown(ex.Feed))
		return word.Word{Text: ">(…)"}
	}
	from := len(ex.Calls)
	out := ex.Substitute(p.Stmts, sc.Fork(), word.Stream{})
	ex.Capture(from)
	out.Present = true
	return word.Word{Text: "<(…)", Taint: out.Taint, Source: &out}
}

// tempName is the name that "$(mktemp)" stands for: no other text knows it, but nothing
// else has it, and the file or folder is empty. Each has a number of its own.
func (ex *Expander) tempName(p *syntax.CmdSubst) (word.Word, bool) {
	if len(p.Stmts) != 1 || ex.Redefines("mktemp") {
		return word.Word{}, false
	}
	s := p.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(s.Redirs) > 0 || s.Negated || s.Background || len(c.Assigns) > 0 || len(c.Args) == 0 || c.Args[0].Lit() != "mktemp" {
		return word.Word{}, false
	}
	for _, w := range c.Args[1:] {
		switch lit := w.Lit(); {
		case lit == "-d" || lit == "--directory":
		case strings.HasPrefix(lit, "/tmp/") && strings.Count(lit, "/") == 2 && strings.HasSuffix(lit, "XXX"):
		default:
			return word.Word{}, false
		}
	}
	ex.Temps++
	return word.Word{Text: fmt.Sprintf("/tmp/tmp.$(%d)", ex.Temps)}, true
}

var tempNames = regexp.MustCompile(`/tmp/tmp\.\$\((\d+)\)`)

// WithTempNames is a text that is known but for the names of files and folders that the text around it has made: they are
// variables of its own.
func WithTempNames(code word.Word, sc *state.Scope) word.Word {
	names := tempNames.FindAllStringSubmatch(code.Text, state.MaxFallbacks)
	if len(names) == 0 || strings.ContainsAny(tempNames.ReplaceAllString(code.Text, ""), "$`\x00…") {
		return code
	}
	for _, name := range names {
		sc.Set("_fresh_"+name[1], state.Variable{List: []word.Word{{Text: name[0]}}})
	}
	return word.Word{Text: tempNames.ReplaceAllString(code.Text, "${_fresh_$1}"), Known: true, Taint: code.Taint}
}
