package oneliner

import "strings"

var awk = lexis{
	comments: []string{"#"},
	marks:    strings.Fields("**= ++ -- += -= *= /= %= ^= == != <= >= && || !~ >> **"),
	singles:  "+-*/%^=<>!~?:;,()[]{}$\\",
	special:  awkText,
}

// awkText reads texts and patterns. What is neither for certain leaves the program unread, as do pipes, which no mark is for.
func awkText(s *scanner) bool {
	switch c := s.code[s.at]; {
	case c == '"':
		s.quoted(c, "")
	case c == '/' && s.beginsAwkPattern():
		s.awkPattern()
	case c == '/' && (s.last().is(")") || s.last().kind == word && awkWords[s.last().text]) && s.slashAgain():
		s.failed = true
	default:
		return false
	}
	return true
}

func (s *scanner) beginsAwkPattern() bool {
	last := s.last()
	return s.line || last.is("(", ",", "~", "!~", "!", "&&", "||", "{", "}", ";", "?", ":", "=", "==", "!=")
}

// awkPattern reads a pattern, in which a slash between brackets may end it or not.
func (s *scanner) awkPattern() {
	body, next, ok := s.until(s.at+1, '/')
	if !ok || strings.Contains(body, "\n") || strings.LastIndexByte(body, '[') > strings.LastIndexByte(body, ']') {
		s.failed = true
		return
	}
	s.add(pattern, body, false)
	s.at = next
}

var awkWords = set(`BEGIN END if else while for do in break continue next nextfile exit return delete print printf
		func function switch case default`)

// AwkKeyword says that a word of a program names no value.
func AwkKeyword(word string) bool { return awkWords[word] }

// readAwk knows that a program starts nothing: names of functions are spelt, and nothing is called by what a variable holds.
func readAwk(tokens []token) (Effects, bool) {
	for _, t := range tokens {
		if t.named("system", "getline", "close") {
			return Effects{}, false
		}
	}
	return Effects{}, true
}
