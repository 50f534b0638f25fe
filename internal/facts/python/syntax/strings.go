package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// str reads a string literal that starts, after its prefix, at a quote.
func (l *lexer) str(prefix string) (token, error) {
	quote := l.src[l.at : l.at+1]
	if strings.HasPrefix(l.src[l.at:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	l.at += len(quote)
	s := literalForm{quote: quote, raw: strings.Contains(prefix, "r"), bytes: strings.Contains(prefix, "b")}
	if strings.Contains(prefix, "f") {
		return l.formatted(s)
	}
	start := l.at
	for l.at < len(l.src) {
		switch c := l.src[l.at]; {
		case c == '\\':
			l.at += 2
		case c == '\n' && len(quote) == 1:
			return token{}, ErrRefused
		case c == quote[0] && strings.HasPrefix(l.src[l.at:], quote):
			text := s.value(l.src[start:l.at])
			l.at += len(quote)
			return token{kind: tokenText, text: text}, nil
		default:
			l.at++
		}
	}
	return token{}, ErrRefused
}

// literalForm is how a literal is written.
type literalForm struct {
	quote      string
	raw, bytes bool
}

func (s literalForm) value(text string) string {
	if !s.raw && strings.IndexByte(text, '\\') >= 0 {
		text = s.unescape(text)
	}
	return text
}

// Unescape is what a text with Python's escapes stands for.
func Unescape(text string) string { return literalForm{}.unescape(text) }

var escapes = map[byte]string{'\n': "", '\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r",
	't': "\t", 'v': "\v"}

func (s literalForm) unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 >= len(text) {
			b.WriteByte(text[i])
			i++
			continue
		}
		if plain, ok := escapes[text[i+1]]; ok {
			b.WriteString(plain)
			i += 2
			continue
		}
		c, n := s.code(text[i:])
		switch {
		case n == 0:
			b.WriteByte('\\')
			n = 1
		case s.bytes:
			b.WriteByte(byte(c))
		default:
			b.WriteRune(c)
		}
		i += n
	}
	return b.String()
}

// code reads an escape that names a character by its number; n is zero if it is none.
func (s literalForm) code(text string) (c rune, n int) {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
	if s.bytes && text[1] != 'x' {
		digits = 0
	}
	if digits > 0 && len(text) >= 2+digits {
		if v, err := strconv.ParseUint(text[2:2+digits], 16, 32); err == nil {
			return rune(v), 2 + digits //nolint:gosec // 32 bits at most
		}
		return 0, 0
	}
	if text[1] == 'N' {
		if end := strings.IndexByte(text, '}'); end > 0 && !s.bytes {
			return utf8.RuneError, end + 1
		}
	}
	for n = 1; n < 4 && n < len(text) && text[n] >= '0' && text[n] <= '7'; n++ {
		c = c<<3 | rune(text[n]-'0')
	}
	if n == 1 {
		return 0, 0
	}
	return c, n
}

// formatted reads the rest of an f-string.
func (l *lexer) formatted(s literalForm) (token, error) {
	outer := l.brackets
	defer func() { l.brackets = outer }()
	start := l.at
	parts, err := l.formatParts(s, s.quote)
	if err != nil {
		return token{}, err
	}
	// Before 3.12 the first such quote ended it.
	l.unsure = l.unsure || strings.Contains(strings.ReplaceAll(l.src[start:l.at], `\`+s.quote[:1], ""), s.quote)
	l.at += len(s.quote)
	return token{kind: tokenText, parts: &parts}, nil
}

// formatParts reads up to the text that ends an f-string or a format in it.
func (l *lexer) formatParts(s literalForm, end string) ([]part, error) {
	parts := []part{{}}
	start := l.at
	cut := func(upTo int) { parts = append(parts, part{text: s.value(l.src[start:upTo])}) }
	for l.at < len(l.src) {
		rest := l.src[l.at:]
		switch {
		case strings.HasPrefix(rest, end):
			cut(l.at)
			return parts, nil
		case strings.HasPrefix(rest, "{{") && end != "}", strings.HasPrefix(rest, "}}") && end != "}":
			cut(l.at + 1)
			l.at += 2
			start = l.at
		case strings.HasPrefix(rest, `\N{`) && !s.raw:
			l.at += max(3, strings.IndexByte(rest, '}')+1)
		case rest[0] == '\\' && !(len(rest) > 1 && (rest[1] == '{' || rest[1] == '}')):
			l.at += 2
		case rest[0] == '{':
			cut(l.at)
			l.at++
			more, err := l.replacement(s)
			if err != nil {
				return nil, err
			}
			parts = append(parts, more...)
			start = l.at
		case (rest[0] == '\n' && len(s.quote) == 1 || rest[0] == '}') && end == s.quote:
			return nil, ErrRefused
		case rest[0] == '\n' && len(s.quote) == 1, rest[0] == '}':
			return nil, errNotPython
		default:
			l.at++
		}
	}
	return nil, errNotPython
}

// replacement reads {expression!r:format} after its opening brace.
func (l *lexer) replacement(s literalForm) ([]part, error) {
	if len(l.brackets) >= maxBrackets {
		return nil, errNotPython
	}
	outer := l.brackets
	l.brackets = append(l.brackets[:len(l.brackets):len(l.brackets)], '{')
	defer func() { l.brackets = outer }()
	depth := len(l.brackets)
	var tokens []token
	for {
		rest := strings.TrimLeft(l.src[l.at:], " \t\r\n")
		if len(l.brackets) == depth && rest != "" {
			if stop := stopOf(rest); stop != 0 {
				l.at = len(l.src) - len(rest) + 1
				if len(tokens) == 0 {
					return nil, ErrRefused
				}
				return l.replacementEnd(s, stop, tokens)
			}
		}
		t, err := l.next()
		if err == nil && t.kind == tokenEnd {
			err = errNotPython
		}
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
	}
}

// stopOf is what ends the expression of a replacement here, or zero.
func stopOf(rest string) byte {
	switch {
	case rest[0] == '}', rest[0] == ':':
		return rest[0]
	case rest[0] == '!' && !strings.HasPrefix(rest, "!="):
		return '!'
	case rest[0] == '=' && !strings.HasPrefix(rest, "=="):
		return '='
	}
	return 0
}

func (l *lexer) replacementEnd(s literalForm, stop byte, tokens []token) ([]part, error) {
	l.unsure = l.unsure || stop == '='
	for stop == '=' || stop == '!' {
		rest := strings.TrimLeft(l.src[l.at:], " \trsa\n")
		if rest == "" {
			return nil, errNotPython
		}
		stop = stopOf(rest)
		if stop == 0 || stop == '=' {
			return nil, errNotPython
		}
		l.at = len(l.src) - len(rest) + 1
	}
	parts := []part{{tokens: append(tokens, token{kind: tokenEnd})}}
	if stop != ':' {
		return parts, nil
	}
	// A format only pads or rounds, but what it computes is computed.
	format, err := l.formatParts(s, "}")
	if err != nil {
		return nil, err
	}
	l.at++
	for _, p := range format {
		if p.tokens != nil {
			l.unsure = true
			parts = append(parts, part{tokens: p.tokens})
		}
	}
	return parts, nil
}
