package parse_test

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/parse"
)

func TestATextIsParsedAsBashReadsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		// words are those of all statements.
		words string
	}{
		"a carriage return is a character":            {"echo a\rb", "echo a\rb"},
		"one at the end of a line is none":            {"echo a\r\necho b", "echo a echo b"},
		"a comment does not take the next line":       {"# a \\\nrm x", "rm x"},
		"a word does":                                 {"echo a\\\nb", "echo ab"},
		"a backslash before a carriage return is one": {"echo a\\\r\nb", "echo a\\\r b"},
	} {
		stmts, err := parse.Statements(c.text, 10)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var words []string
		for _, s := range stmts {
			for _, w := range s.Cmd.(*syntax.CallExpr).Args {
				words = append(words, w.Lit())
			}
		}
		if got := strings.Join(words, " "); got != c.words {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestParsingIsBounded(t *testing.T) {
	t.Parallel()
	if _, err := parse.Statements(strings.Repeat("( ", 100)+"a"+strings.Repeat(" )", 100), 10); err != nil {
		t.Errorf("100 deep: %v", err)
	}
	if _, err := parse.Statements(strings.Repeat("( ", 10_000)+"a"+strings.Repeat(" )", 10_000), 10); err == nil {
		t.Error("10,000 deep is parsed")
	}
	if stmts, err := parse.Statements(strings.Repeat("a;", 100), 10); err != nil || len(stmts) != 11 {
		t.Errorf("of 100 statements %d are read: %v", len(stmts), err)
	}
}
