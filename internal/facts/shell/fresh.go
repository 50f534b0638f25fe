package shell

import (
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// freshName is the name that "$(mktemp)" stands for: no other text knows it, but nothing
// else has it, and the file or folder is empty. Each has a number of its own.
func (ex *expander) freshName(p *syntax.CmdSubst) (word, bool) {
	if len(p.Stmts) != 1 || ex.redefines("mktemp") {
		return word{}, false
	}
	s := p.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(s.Redirs) > 0 || s.Negated || s.Background || len(c.Assigns) > 0 || len(c.Args) == 0 || c.Args[0].Lit() != "mktemp" {
		return word{}, false
	}
	for _, w := range c.Args[1:] {
		switch lit := w.Lit(); {
		case lit == "-d" || lit == "--directory":
		case strings.HasPrefix(lit, "/tmp/") && strings.Count(lit, "/") == 2 && strings.HasSuffix(lit, "XXX"):
		default:
			return word{}, false
		}
	}
	ex.fresh++
	return word{text: fmt.Sprintf("/tmp/tmp.$(%d)", ex.fresh)}, true
}

var freshNames = regexp.MustCompile(`/tmp/tmp\.\$\((\d+)\)`)

// withFreshNames is a text that is known but for the names of files and folders that the text around it has made: they are
// variables of its own.
func withFreshNames(code word, sc *scope) word {
	names := freshNames.FindAllStringSubmatch(code.text, maxFormer)
	if len(names) == 0 || strings.ContainsAny(freshNames.ReplaceAllString(code.text, ""), "$`\x00…") {
		return code
	}
	for _, name := range names {
		sc.set("_fresh_"+name[1], variable{list: []word{{text: name[0]}}})
	}
	return word{text: freshNames.ReplaceAllString(code.text, "${_fresh_$1}"), known: true, Taint: code.Taint}
}
