package oneliner

import (
	"regexp"
	"slices"
	"strings"
)

// kind is what a token is.
type kind int

const (
	word kind = iota
	variable
	number
	text
	pattern
	mark
)

// token is a part of a program. The text of a quoted one is what stands between the quotes.
type token struct {
	kind kind
	text string
	// plain says that a quoted text stands for itself: nothing in it is escaped or filled in.
	plain bool
	// first says that a line begins with it, spaced that a blank or a line's end stands before it.
	first, spaced bool
}

func (t token) is(marks ...string) bool { return t.kind == mark && slices.Contains(marks, t.text) }

func (t token) named(words ...string) bool { return t.kind == word && slices.Contains(words, t.text) }

// at is a token by its place; outside the program it is a mark without a text.
func at(tokens []token, i int) token {
	if i < 0 || i >= len(tokens) {
		return token{kind: mark}
	}
	return tokens[i]
}

// lexis is how a language is cut into tokens.
type lexis struct {
	// comment begins what goes to the end of the line, in any of these ways.
	comments []string
	// marks are the operators of more than one character, the longest first, and singles those of one.
	marks   []string
	singles string
	// tail are characters that a name may end with.
	tail string
	// special reads what begins at this place, where that is neither a name, a number nor a mark. It is false where nothing of
	// the kind begins there.
	special func(s *scanner) bool
}

// Bounds of a program.
const (
	maxTokens = 8192
	maxDepth  = 8
)

// scanner cuts a program into tokens.
type scanner struct {
	lexis
	code   string
	at     int
	out    []token
	depth  int
	failed bool
	spaced bool
	line   bool
}

func (l lexis) tokens(code string) ([]token, bool) {
	s := &scanner{lexis: l, code: code, line: true}
	s.scan(false)
	return s.out, !s.failed
}

// scan reads up to the end, or up to the bracket that closes a part of a quoted text.
func (s *scanner) scan(inside bool) {
	open := 0
	for s.at < len(s.code) && !s.failed {
		c := s.code[s.at]
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			s.blank(c)
		case s.isComment():
		case s.special(s):
		case isLetter(c):
			s.name()
		case isDigit(c):
			s.number()
		default:
			s.operator()
			switch last := at(s.out, len(s.out)-1); {
			case last.is("{"):
				open++
			case last.is("}") && open == 0 && inside:
				return
			case last.is("}"):
				open--
			}
		}
	}
	s.failed = s.failed || inside
}

func (s *scanner) blank(c byte) {
	s.at++
	s.spaced = true
	s.line = s.line || c == '\n'
}

// isComment skips one, which holds nothing that an interpreter may take for its end, and is none of several lines.
func (s *scanner) isComment() bool {
	for _, begins := range s.comments {
		if !strings.HasPrefix(s.code[s.at:], begins) {
			continue
		}
		end := strings.IndexByte(s.code[s.at:], '\n')
		if end < 0 {
			end = len(s.code) - s.at
		}
		comment := s.code[s.at : s.at+end]
		ends := strings.HasPrefix(comment, "#[") || strings.HasPrefix(comment, "--[") || strings.Contains(comment, "?>")
		s.failed = s.failed || ends || !isPlain(comment)
		s.at += end
		return true
	}
	return false
}

// isPlain says that a text has none but printable characters of ASCII, and tabs.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') })
}

func (s *scanner) add(k kind, spelt string, plain bool) {
	if len(s.out) >= maxTokens {
		s.failed = true
		return
	}
	s.out = append(s.out, token{k, spelt, plain, s.line, s.spaced})
	s.line, s.spaced = false, false
}

// skip takes so many characters as a token.
func (s *scanner) take(k kind, length int) {
	s.add(k, s.code[s.at:s.at+length], true)
	s.at += length
}

func (s *scanner) name() {
	end := s.at + 1
	for end < len(s.code) && (isLetter(s.code[end]) || isDigit(s.code[end])) {
		end++
	}
	if end < len(s.code) && strings.IndexByte(s.tail, s.code[end]) >= 0 && (end+1 == len(s.code) || s.code[end+1] != '=') {
		end++
	}
	s.take(word, end-s.at)
}

var numbers = regexp.MustCompile(`^(?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)`)

func (s *scanner) number() {
	length := len(numbers.FindString(s.code[s.at:]))
	if next := s.at + length; next < len(s.code) && isLetter(s.code[next]) {
		s.failed = true
	}
	s.take(number, length)
}

func (s *scanner) operator() {
	for _, m := range s.marks {
		if strings.HasPrefix(s.code[s.at:], m) {
			s.take(mark, len(m))
			return
		}
	}
	if strings.IndexByte(s.singles, s.code[s.at]) < 0 {
		s.failed = true
		return
	}
	s.take(mark, 1)
}

// quoted reads a text between quotes in which a backslash protects what follows, and where it is so, takes what
// stands in #{…} or ${…} for a program.
func (s *scanner) quoted(quote byte, fills string) {
	parts := 0
	begin := s.at + 1
	plain := true
	for i := begin; i < len(s.code) && !s.failed; i++ {
		switch {
		case s.code[i] == '\\':
			plain = false
			i++
		case s.code[i] == quote:
			s.add(text, s.code[begin:i], plain && parts == 0)
			s.at = i + 1
			for range parts {
				s.add(mark, ")", true)
			}
			return
		case fills != "" && strings.HasPrefix(s.code[i:], fills):
			s.add(text, "", false)
			s.add(mark, "+", true)
			s.add(mark, "(", true)
			i = s.filled(i + len(fills))
			s.add(mark, "+", true)
			begin, parts = i, parts+1
			i--
		}
	}
	s.failed = true
}

// filled reads the program in a part of a quoted text, and returns where the text goes on.
func (s *scanner) filled(from int) int {
	s.at = from
	s.depth++
	if s.depth > maxDepth {
		s.failed = true
		return from
	}
	s.add(mark, "(", true)
	s.scan(true)
	if !s.failed {
		s.out[len(s.out)-1].text = ")"
	}
	s.depth--
	return s.at
}

// until is what stands before a mark that no backslash precedes, from a place on.
func (s *scanner) until(from int, end byte) (body string, next int, ok bool) {
	for i := from; i < len(s.code); i++ {
		switch s.code[i] {
		case '\\':
			i++
		case end:
			return s.code[from:i], i + 1, true
		}
	}
	return "", len(s.code), false
}

// slashAgain says that another slash stands behind the one at this place, so that a program that is read as a division may be
// an expression.
func (s *scanner) slashAgain() bool { return strings.IndexByte(s.code[s.at+1:], '/') >= 0 }

// last is the token before this place.
func (s *scanner) last() token { return at(s.out, len(s.out)-1) }

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// closes is where the bracket closes that opens at a place, or the end.
func closes(tokens []token, from int) int {
	depth := 0
	for i := from; i < len(tokens); i++ {
		switch {
		case tokens[i].is("(", "[", "{"):
			depth++
		case tokens[i].is(")", "]", "}"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(tokens)
}

// opened is where the bracket opens that closes at a place, or -1.
func opened(tokens []token, from int) int {
	depth := 0
	for i := from; i >= 0; i-- {
		switch {
		case tokens[i].is(")", "]", "}"):
			depth++
		case tokens[i].is("(", "[", "{"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// set are the words of a list.
func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}
