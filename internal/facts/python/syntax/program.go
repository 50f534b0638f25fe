// Package syntax parses Python.
//
// Promised here: a program becomes statements and expressions, in the order of its text, with
// every string literal as the text that it stands for. Parsing takes bounded time and memory, and
// a text that is not Python is an error.
//
// Not here: the meaning of names and calls.
package syntax

import "github.com/bailiff-dev/bailiff/internal/facts/value"

// Program is a whole program.
type Program struct {
	Body   []*Statement
	tokens []token
}

// Parse parses a whole program.
func Parse(source string) (Program, error) {
	tokens, err := tokenize(source)
	if err != nil {
		return Program{}, err
	}
	body, err := parse(tokens)
	return Program{Body: body, tokens: tokens}, err
}

// Literals are the first string literals of a program, in their order: at most so many,
// and so many bytes of each.
func (p Program) Literals(most, size int) []string { return literals(p.tokens, []string{}, most, size) }

func literals(tokens []token, all []string, most, size int) []string {
	add := func(text string) {
		if text != "" && len(all) < most {
			all = append(all, value.Cut(text, size))
		}
	}
	for _, t := range tokens {
		if t.kind == tokenText {
			add(t.text)
		}
		for _, part := range t.parts {
			add(part.text)
			all = literals(part.tokens, all, most, size)
		}
	}
	return all
}
