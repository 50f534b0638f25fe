// Package loops tells loops of the shell that go on for ever and start something in each round.
//
// What is promised: a loop whose condition says that it ends, or whose body waits in each round, is none.
//
// Not here: what the loop starts (package shell reads its body like any text).
package loops

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// StartWithoutEnd says whether a loop that never ends starts something in each round, and waits for nothing.
func StartWithoutEnd(c syntax.Command) bool {
	switch c := c.(type) {
	case *syntax.WhileClause:
		return !c.Until && len(c.Cond) == 1 && isAlwaysTrue(c.Cond[0]) && startsAtOnce(c.Do)
	case *syntax.ForClause:
		l, counts := c.Loop.(*syntax.CStyleLoop)
		return counts && (l.Cond == nil || isNumber(l.Cond)) && startsAtOnce(c.Do)
	}
	return false
}

// startsAtOnce says that a body starts something in the background, and nothing in it waits.
func startsAtOnce(body []*syntax.Stmt) bool {
	starts, disowns := false, false
	for _, s := range body {
		disowns = disowns || programOf(s) == "disown"
	}
	for _, s := range body {
		starts = starts || s.Background
		if name := programOf(s); !s.Background && pauses[name] && !(disowns && name == "wait") {
			return false
		}
	}
	return starts
}

func programOf(s *syntax.Stmt) string {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		return call.Args[0].Lit()
	}
	return ""
}

// pauses are programs that keep a loop from going on at once.
var pauses = map[string]bool{"sleep": true, "usleep": true, "wait": true, "read": true, "inotifywait": true, "break": true, "exit": true,
	"return": true}

// isAlwaysTrue knows "true", ":", "[ 1 ]", "[[ 1 ]]" and "((1))".
func isAlwaysTrue(s *syntax.Stmt) bool {
	if s.Negated {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return isTrueCall(c)
	case *syntax.TestClause:
		w, ok := c.X.(*syntax.Word)
		return ok && w.Lit() != ""
	case *syntax.ArithmCmd:
		return isNumber(c.X)
	}
	return false
}

func isTrueCall(c *syntax.CallExpr) bool {
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		words[i] = w.Lit()
	}
	switch {
	case len(words) == 0:
		return false
	case len(words) == 1:
		return words[0] == "true" || words[0] == ":"
	}
	return (words[0] == "[" && len(words) == 3 || words[0] == "test" && len(words) == 2) && words[1] != ""
}

// isNumber knows numbers other than zero.
func isNumber(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && w.Lit() != "" && strings.Trim(w.Lit(), "0123456789") == "" && strings.Trim(w.Lit(), "0") != ""
}
