package syntax

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenNewline
	tokenName
	tokenNumber
	tokenText
	tokenOperator
)

// token is one token; text is a name, an operator, a number's digits or a
// string's value.
type token struct {
	kind tokenKind
	// level is that of an operator between operands, from 1 on.
	level int8
	// column is the indentation of a newline's next line.
	column int32
	text   string
	// parts are set for f"…".
	parts *[]part
}

// part is a piece of an f-string: text, or the tokens of an expression.
type part struct {
	text   string
	tokens []token
}

// What one program may cost.
const (
	maxTokens   = 250_000
	maxBrackets = 200
	// bytesPerToken says how many tokens a text is given room for at first.
	bytesPerToken = 4
)

var (
	errNotPython = errors.New("not Python")
	// ErrRefused is the error of a text that each version of Python refuses as a whole, before anything of it runs: a literal or a
	// bracket that never ends, or what can stand nowhere. Where versions may differ, it is another one.
	ErrRefused = errors.New("refused by Python")
)

// lexer cuts a source into tokens. It joins lines inside brackets and after a
// backslash as Python does.
type lexer struct {
	src      string
	at       int
	brackets []byte
	count    int
	// unsure says that versions of Python may cut the text into other tokens.
	unsure bool
}

// tokenize returns the tokens of a whole program, its first line's indentation first.
func tokenize(src string) ([]token, error) {
	l := &lexer{src: strings.TrimPrefix(src, "\ufeff"), unsure: strings.ContainsRune(src, '\r')}
	tokens := make([]token, 1, 2+len(src)/bytesPerToken)
	tokens[0] = token{kind: tokenNewline, column: l.indentation()}
	for {
		t, err := l.next()
		if err != nil {
			return nil, l.settled(err)
		}
		if t.kind == tokenNewline && tokens[len(tokens)-1].kind == tokenNewline {
			tokens[len(tokens)-1] = t
			continue
		}
		if len(tokens) == cap(tokens) {
			tokens = slices.Grow(tokens, len(tokens)) // append would copy a long program five times
		}
		tokens = append(tokens, t)
		if t.kind == tokenEnd {
			return tokens, l.settled(l.closed())
		}
	}
}

func (l *lexer) closed() error {
	if len(l.brackets) > 0 {
		return ErrRefused
	}
	return nil
}

// settled is an error, of which each version of Python is only known to have it where all of them read alike up to there.
func (l *lexer) settled(err error) error {
	if err != nil && l.unsure {
		return errNotPython
	}
	return err
}

func (l *lexer) next() (token, error) {
	if l.count++; l.count > maxTokens {
		return token{}, errNotPython
	}
	for l.at < len(l.src) {
		switch c := l.src[l.at]; {
		case c == ' ' || c == '\t' || c == '\f':
			l.at++
		case c == '#':
			l.skipComment()
		case c == '\\':
			if !l.joined() {
				return token{}, ErrRefused
			}
		case c == '\n' || c == '\r':
			l.at++
			if len(l.brackets) == 0 {
				return token{kind: tokenNewline, column: l.indentation()}, nil
			}
		default:
			return l.token(c)
		}
	}
	return token{kind: tokenEnd}, nil
}

func (l *lexer) skipComment() {
	if end := strings.IndexAny(l.src[l.at:], "\r\n"); end >= 0 {
		l.at += end
		return
	}
	l.at = len(l.src)
}

// joined passes a backslash at the end of a line.
func (l *lexer) joined() bool {
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
func (l *lexer) indentation() int32 {
	column := int32(0)
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

func (l *lexer) token(c byte) (token, error) {
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
func (l *lexer) name() (token, error) {
	start, ascii := l.at, true
	for l.at < len(l.src) {
		c, n := utf8.DecodeRuneInString(l.src[l.at:])
		if !(c == '_' || unicode.IsLetter(c) || l.at > start && (unicode.IsDigit(c) || unicode.Is(unicode.Mn, c) || unicode.Is(unicode.Mc,
			c)) || c >= utf8.RuneSelf && unicode.In(c, unicode.Nl, unicode.Pc)) {
			break
		}
		ascii = ascii && c < utf8.RuneSelf
		l.at += n
	}
	text := l.src[start:l.at]
	if text == "" {
		return token{}, errNotPython
	}
	if l.at < len(l.src) && (l.src[l.at] == '"' || l.src[l.at] == '\'') && isPrefix(text) {
		return l.str(strings.ToLower(text))
	}
	if l.at < len(l.src) && (l.src[l.at] == '"' || l.src[l.at] == '\'') {
		l.unsure = true // it may be a prefix of a later version
	}
	if !ascii {
		text = norm.NFKC.String(text)
	}
	return token{kind: tokenName, level: levelOf(text), text: text}, nil
}

func isPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "u", "b", "f", "rb", "br", "rf", "fr":
		return true
	}
	return false
}

func (l *lexer) number() token {
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
	return token{kind: tokenNumber, text: l.src[start:l.at]}
}

// suffix says whether a letter belongs to the number that starts at start: a
// base after its zero, an exponent before a digit, or j at the end.
func (l *lexer) suffix(start int, c byte) bool {
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

var operators = []string{
	"**=", "//=", ">>=", "<<=", "...",
	"**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", ":=",
}

func (l *lexer) operator() (token, error) {
	rest := l.src[l.at:]
	if op := longOperator(rest); op != "" {
		l.at += len(op)
		return token{kind: tokenOperator, level: levelOf(op), text: op}, nil
	}
	c := rest[0]
	l.at++
	switch c {
	case '(', '[', '{':
		if len(l.brackets) >= maxBrackets {
			return token{}, errNotPython
		}
		l.brackets = append(l.brackets, c)
	case ')', ']', '}':
		if n := len(l.brackets); n == 0 || !matches(l.brackets[n-1], c) {
			return token{}, ErrRefused
		}
		l.brackets = l.brackets[:len(l.brackets)-1]
	case '+', '-', '*', '/', '%', '@', '&', '|', '^', '~', '<', '>', '=', ',', ':', '.', ';':
	default:
		return token{}, errNotPython
	}
	return token{kind: tokenOperator, level: levelOf(rest[:1]), text: rest[:1]}, nil
}

// longOperator is the operator of several characters that a text begins with.
func longOperator(text string) string {
	if len(text) < 2 || strings.IndexByte("*/<>=.", text[1]) < 0 { // the second characters of all
		return ""
	}
	for _, op := range operators {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	return ""
}

func matches(open, closing byte) bool {
	return open == '(' && closing == ')' || open == '[' && closing == ']' || open == '{' && closing == '}'
}
