// Package syntax parses Python.
//
// Promised here: a program becomes statements and expressions, in the order of its text, with
// every string literal as the text that it stands for. Parsing takes bounded time and memory, and
// a text that is not Python is an error.
//
// Not here: the meaning of names and calls.
package syntax

import (
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

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

// Statements are those of several programs, one after the other. A program that no interpreter would take has none.
func Statements(sources []string) (all []*Statement) {
	for _, source := range sources {
		if p, err := Parse(source); err == nil && ReadsAsItStands(source) {
			all = append(all, p.Body...)
		}
	}
	return all
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
		if t.parts == nil {
			continue
		}
		for _, part := range *t.parts {
			add(part.text)
			all = literals(part.tokens, all, most, size)
		}
	}
	return all
}

// Form is how an expression is made.
type Form uint8

// The forms of expressions.
const (
	NameForm Form = iota
	NumberForm
	TextForm      // Text
	FormatForm    // Kids: pieces of text and expressions
	ListForm      // Kids: items, also of tuples and sets; Text: "tuple" for one
	DictForm      // Kids: key, value, key, value …; a nil key before **value
	CallForm      // Kids: function, arguments; Names: a keyword, "*", "**" or "" for each argument
	AttributeForm // Kids: object; Text: name
	IndexForm     // Kids: object, index
	SliceForm     // Kids: from, to, step; each may be nil
	ChainForm     // Kids: operands; Names: the operator before each
	UnaryForm     // Text: operator; Kids: operand
	ChoiceForm    // Kids: then, test, else
	LambdaForm    // Kids: defaults, body last; Define
	LoopForm      // Kids: elements, then for each clause target and source; Count: elements; conditions in Extra
	NamedForm     // Text: name; Kids: value
	OtherForm     // Kids: all that is computed, such as by await, yield, *x
)

// Expression is an expression: its form says which of its fields are set.
type Expression struct {
	Form  Form
	Text  string
	Kids  []*Expression
	Names []string
	// Define is the function that a LambdaForm makes.
	Define *Statement
	// Count and Extra belong to LoopForm.
	Count int
	Extra []*Expression
}
