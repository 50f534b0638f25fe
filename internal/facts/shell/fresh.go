package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// freshFolder is the name that "$(mktemp -d)" stands for: no other text knows it, but nothing
// else has it, and the folder is empty. Each has a number of its own.
func (a *analysis) freshFolder(p *syntax.CmdSubst) (word, bool) {
	if len(p.Stmts) != 1 || a.functions["mktemp"] != nil || a.aliases["mktemp"] != "" {
		return word{}, false
	}
	s := p.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(s.Redirs) > 0 || s.Negated || s.Background || len(c.Assigns) > 0 || len(c.Args) == 0 || c.Args[0].Lit() != "mktemp" {
		return word{}, false
	}
	folder := false
	for _, w := range c.Args[1:] {
		switch lit := w.Lit(); {
		case lit == "-d" || lit == "--directory":
			folder = true
		case strings.HasPrefix(lit, "/tmp/") && strings.Count(lit, "/") == 2 && strings.HasSuffix(lit, "XXX"):
		default:
			return word{}, false
		}
	}
	a.fresh++
	return word{text: fmt.Sprintf("/tmp/tmp.$(%d)", a.fresh)}, folder
}
