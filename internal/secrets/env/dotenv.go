package env

import (
	"fmt"
	"strings"
)

// parse reads the text of a dotenv file. An error names the line's number and
// never its text, which may be a secret.
func parse(text string) (map[string]string, error) {
	r := &reader{rest: strings.TrimPrefix(text, "\ufeff"), line: 1}
	variables := map[string]string{}
	for r.toStatement() {
		line := r.line
		name, value, err := r.assignment()
		if err != nil {
			return nil, &syntaxError{line, err.Error()}
		}
		variables[name] = value
	}
	return variables, nil
}

type syntaxError struct {
	line  int
	fault string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.fault) }

type fault string

func (f fault) Error() string { return string(f) }

const (
	errName    fault = "want NAME=value, with a name of letters, digits and underscores"
	errNoValue fault = "want \"=\" after the name"
	errQuote   fault = "the quotation mark that opens the value is never closed"
	errAfter   fault = "after the closing quotation mark, only a comment may follow"
	errNUL     fault = "the value holds a NUL byte, which no variable can"
)

// reader stands somewhere in the text.
type reader struct {
	rest string
	line int
}

// toStatement skips blank lines and comments; it is false at the end.
func (r *reader) toStatement() bool {
	for r.rest != "" {
		r.skip(" \t\r")
		switch {
		case strings.HasPrefix(r.rest, "#"):
			r.take(strings.IndexByte(r.rest+"\n", '\n'))
		case strings.HasPrefix(r.rest, "\n"):
			r.take(1)
		default:
			return r.rest != ""
		}
	}
	return false
}

func (r *reader) assignment() (name, value string, err error) {
	r.skipExport()
	if name = r.take(nameLength(r.rest)); name == "" {
		return "", "", errName
	}
	r.skip(" \t")
	if !strings.HasPrefix(r.rest, "=") {
		return "", "", errNoValue
	}
	r.take(1)
	r.skip(" \t")
	value, err = r.value()
	if err == nil && strings.IndexByte(value, 0) >= 0 {
		err = errNUL
	}
	return name, value, err
}

func (r *reader) skipExport() {
	if after, found := strings.CutPrefix(r.rest, "export"); found && strings.TrimLeft(after, " \t") != after {
		r.rest = after
		r.skip(" \t")
	}
}

func (r *reader) value() (string, error) {
	switch {
	case strings.HasPrefix(r.rest, `"`):
		return r.quoted('"', escapes)
	case strings.HasPrefix(r.rest, `'`):
		return r.quoted('\'', `\'`)
	}
	raw := r.take(strings.IndexByte(r.rest+"\n", '\n'))
	return strings.TrimSpace(withoutComment(raw)), nil
}

// escapes are the characters that a backslash gives a meaning between double
// quotation marks; before any other it is a backslash.
const escapes = `\"'abfnrtv$`

var escaped = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// quoted reads a value up to its closing mark; it may span lines.
func (r *reader) quoted(mark byte, escapable string) (string, error) {
	var value strings.Builder
	for i := 1; i < len(r.rest); i++ {
		switch c := r.rest[i]; {
		case c == mark:
			r.take(i + 1)
			return value.String(), r.endOfLine()
		case c == '\\' && i+1 < len(r.rest) && strings.IndexByte(escapable, r.rest[i+1]) >= 0:
			i++
			value.WriteByte(meaning(mark, r.rest[i]))
		default:
			value.WriteByte(c)
		}
	}
	return "", errQuote
}

func meaning(mark, c byte) byte {
	if m, ok := escaped[c]; ok && mark == '"' {
		return m
	}
	return c
}

// endOfLine allows a comment after a closing quotation mark, and nothing else.
func (r *reader) endOfLine() error {
	rest := strings.TrimSpace(r.take(strings.IndexByte(r.rest+"\n", '\n')))
	if rest != "" && !strings.HasPrefix(rest, "#") {
		return errAfter
	}
	return nil
}

// withoutComment cuts an unquoted value at a "#" that stands after a blank or
// at its beginning.
func withoutComment(raw string) string {
	for i := range len(raw) {
		if raw[i] == '#' && (i == 0 || raw[i-1] == ' ' || raw[i-1] == '\t') {
			return raw[:i]
		}
	}
	return raw
}

func (r *reader) skip(chars string) { r.rest = strings.TrimLeft(r.rest, chars) }

// take moves on by n bytes and returns them.
func (r *reader) take(n int) string {
	n = min(n, len(r.rest))
	taken := r.rest[:n]
	r.line += strings.Count(taken, "\n")
	r.rest = r.rest[n:]
	return taken
}

// nameLength is how many of the first bytes make a variable's name.
func nameLength(text string) int {
	for i := range len(text) {
		c := text[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}
