package python

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// pyKind is the kind of a token.
type pyKind uint8

const (
	pyEnd pyKind = iota
	pyNewline
	pyName
	pyNumber
	pyText
	pyOperator
)

// pyToken is one token; text is a name, an operator, a number's digits or a
// string's value.
type pyToken struct {
	kind pyKind
	// bytes marks b"…"; parts are set for f"…".
	bytes bool
	parts []pyPart
	text  string
	// column is the indentation of a newline's next line.
	column int
}

// pyPart is a piece of an f-string: text, or the tokens of an expression.
type pyPart struct {
	text   string
	tokens []pyToken
}

// What one program may cost.
const (
	maxPyTokens   = 250_000
	maxPyBrackets = 200
)

var errPython = errors.New("not Python")

// pyLexer cuts a source into tokens. It joins lines inside brackets and after a
// backslash as Python does.
type pyLexer struct {
	src      string
	at       int
	brackets []byte
	count    int
}

// pyTokens returns the tokens of a whole program, its first line's indentation first.
func pyTokens(src string) ([]pyToken, error) {
	l := &pyLexer{src: strings.TrimPrefix(src, "\ufeff")}
	tokens := []pyToken{{kind: pyNewline, column: l.indentation()}}
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		if t.kind == pyNewline && tokens[len(tokens)-1].kind == pyNewline {
			tokens[len(tokens)-1] = t
			continue
		}
		if len(tokens) == cap(tokens) {
			tokens = slices.Grow(tokens, len(tokens)) // append would copy a long program five times
		}
		tokens = append(tokens, t)
		if t.kind == pyEnd {
			return tokens, l.closed()
		}
	}
}

func (l *pyLexer) closed() error {
	if len(l.brackets) > 0 {
		return errPython
	}
	return nil
}

func (l *pyLexer) next() (pyToken, error) {
	if l.count++; l.count > maxPyTokens {
		return pyToken{}, errPython
	}
	for l.at < len(l.src) {
		switch c := l.src[l.at]; {
		case c == ' ' || c == '\t' || c == '\f':
			l.at++
		case c == '#':
			l.skipComment()
		case c == '\\':
			if !l.joined() {
				return pyToken{}, errPython
			}
		case c == '\n' || c == '\r':
			l.at++
			if len(l.brackets) == 0 {
				return pyToken{kind: pyNewline, column: l.indentation()}, nil
			}
		default:
			return l.token(c)
		}
	}
	return pyToken{kind: pyEnd}, nil
}

func (l *pyLexer) skipComment() {
	if end := strings.IndexAny(l.src[l.at:], "\r\n"); end >= 0 {
		l.at += end
		return
	}
	l.at = len(l.src)
}

// joined passes a backslash at the end of a line.
func (l *pyLexer) joined() bool {
	rest := l.src[l.at+1:]
	for _, end := range []string{"\r\n", "\n", "\r"} {
		if strings.HasPrefix(rest, end) {
			l.at += 1 + len(end)
			return true
		}
	}
	return false
}

// indentation measures the white space at the start of a line.
func (l *pyLexer) indentation() int {
	column := 0
	for ; l.at < len(l.src); l.at++ {
		switch l.src[l.at] {
		case ' ':
			column++
		case '\t':
			column = (column/8 + 1) * 8
		case '\f':
			column = 0
		default:
			return column
		}
	}
	return column
}

func (l *pyLexer) token(c byte) (pyToken, error) {
	switch {
	case c == '"' || c == '\'':
		return l.str("")
	case c >= '0' && c <= '9', c == '.' && l.at+1 < len(l.src) && isDigit(l.src[l.at+1]):
		return l.number(), nil
	case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf:
		return l.name()
	}
	return l.operator()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// name reads an identifier, in the normal form in which Python compares them,
// or the string that it is the prefix of.
func (l *pyLexer) name() (pyToken, error) {
	start, ascii := l.at, true
	for l.at < len(l.src) {
		c, n := utf8.DecodeRuneInString(l.src[l.at:])
		if !(c == '_' || unicode.IsLetter(c) || l.at > start && (unicode.IsDigit(c) || unicode.Is(unicode.Mn, c) || unicode.Is(unicode.Mc, c)) || c >= utf8.RuneSelf && unicode.In(c, unicode.Nl, unicode.Pc)) {
			break
		}
		ascii = ascii && c < utf8.RuneSelf
		l.at += n
	}
	text := l.src[start:l.at]
	if text == "" {
		return pyToken{}, errPython
	}
	if l.at < len(l.src) && (l.src[l.at] == '"' || l.src[l.at] == '\'') && isPrefix(text) {
		return l.str(strings.ToLower(text))
	}
	if !ascii {
		text = norm.NFKC.String(text)
	}
	return pyToken{kind: pyName, text: text}, nil
}

func isPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "u", "b", "f", "rb", "br", "rf", "fr":
		return true
	}
	return false
}

func (l *pyLexer) number() pyToken {
	start := l.at
	for ; l.at < len(l.src); l.at++ {
		c := l.src[l.at]
		exponent := (c == '+' || c == '-') && (l.src[l.at-1] == 'e' || l.src[l.at-1] == 'E') && !strings.HasPrefix(l.src[start:], "0x")
		if l.at > start && exponent || c == '.' || c == '_' || isDigit(c) {
			continue
		}
		hex := strings.HasPrefix(l.src[start:l.at], "0x") || strings.HasPrefix(l.src[start:l.at], "0X")
		if !(hex && (c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') || l.suffix(start, c)) {
			break
		}
	}
	return pyToken{kind: pyNumber, text: l.src[start:l.at]}
}

// suffix says whether a letter belongs to the number that starts at start: a
// base after its zero, an exponent before a digit, or j at the end.
func (l *pyLexer) suffix(start int, c byte) bool {
	switch c {
	case 'x', 'X', 'o', 'O', 'b', 'B':
		return l.at == start+1 && l.src[start] == '0'
	case 'e', 'E':
		rest := strings.TrimLeft(l.src[l.at+1:min(len(l.src), l.at+2)], "+-")
		return rest == "" || isDigit(rest[0])
	case 'j', 'J':
		return true
	}
	return false
}

var pyOperators = []string{
	"**=", "//=", ">>=", "<<=", "...",
	"**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", ":=",
}

func (l *pyLexer) operator() (pyToken, error) {
	rest := l.src[l.at:]
	if op := longOperator(rest); op != "" {
		l.at += len(op)
		return pyToken{kind: pyOperator, text: op}, nil
	}
	c := rest[0]
	l.at++
	switch c {
	case '(', '[', '{':
		if len(l.brackets) >= maxPyBrackets {
			return pyToken{}, errPython
		}
		l.brackets = append(l.brackets, c)
	case ')', ']', '}':
		if n := len(l.brackets); n == 0 || !matches(l.brackets[n-1], c) {
			return pyToken{}, errPython
		}
		l.brackets = l.brackets[:len(l.brackets)-1]
	case '+', '-', '*', '/', '%', '@', '&', '|', '^', '~', '<', '>', '=', ',', ':', '.', ';':
	default:
		return pyToken{}, errPython
	}
	return pyToken{kind: pyOperator, text: rest[:1]}, nil
}

// longOperator is the operator of several characters that a text begins with.
func longOperator(text string) string {
	if len(text) < 2 || strings.IndexByte("*/<>=.", text[1]) < 0 { // the second characters of all
		return ""
	}
	for _, op := range pyOperators {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	return ""
}

func matches(open, closing byte) bool {
	return open == '(' && closing == ')' || open == '[' && closing == ']' || open == '{' && closing == '}'
}
