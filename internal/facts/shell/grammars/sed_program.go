package grammars

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// sedScript is a script of sed that is being read, and what was found in it. Where the regular expressions of a script hold its
// delimiter between brackets, versions of sed differ: inBrackets says that a delimiter there ends nothing.
type sedScript struct {
	text       string
	at         int
	inBrackets bool
	// hole is how long the part of the text is that begins at a place and stands for what is not known, 0 where none does.
	hole   func(at int) int
	failed bool

	reads, writes, commands []string
	// literal are commands of a script whose "$" were all taken for its own.
	literal []string
	// runsInput says that lines of the input run as commands.
	runsInput bool
}

// read reads the whole script; it is false for one that is not a script to its end.
func (s *sedScript) read() bool {
	for s.skip(" \t\n;"); s.at < len(s.text) && !s.failed; s.skip(" \t\n;") {
		s.addresses()
		s.command()
	}
	return !s.failed
}

func (s *sedScript) skip(set string) {
	for s.at < len(s.text) && strings.IndexByte(set, s.text[s.at]) >= 0 {
		s.at++
	}
}

// peek is the character at this place, 0 at the end.
func (s *sedScript) peek() byte {
	if s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *sedScript) take() byte {
	c := s.peek()
	s.at++
	return c
}

// addresses reads the lines that a command is for.
func (s *sedScript) addresses() {
	if s.address("") {
		if s.skip(" \t"); s.peek() == ',' {
			s.at++
			s.skip(" \t")
			s.failed = s.failed || !s.address("+~")
		}
	}
	s.skip(" \t!")
}

// address reads one; a second one may begin with one of some signs before its number.
func (s *sedScript) address(signs string) bool {
	switch c := s.peek(); {
	case c == '/':
		s.at++
		s.pattern('/')
	case c == '\\':
		s.at++
		s.pattern(s.take())
	case c == '$' && s.hole(s.at) == 0:
		s.at++
		return true
	default:
		if c != 0 && strings.IndexByte(signs, c) >= 0 {
			s.at++
		}
		return s.numbers()
	}
	s.skip("IM")
	return true
}

// numbers reads a number such as "3" or "0~4"; what is not known may be one.
func (s *sedScript) numbers() bool {
	from := s.at
	for s.at < len(s.text) {
		if n := s.hole(s.at); n > 0 {
			s.at += n
		} else if c := s.text[s.at]; c >= '0' && c <= '9' || c == '~' && s.at > from {
			s.at++
		} else {
			break
		}
	}
	return s.at > from
}

// pattern reads a regular expression up to its end.
func (s *sedScript) pattern(end byte) {
	for s.at < len(s.text) {
		switch c := s.take(); {
		case c == '\\':
			s.at++
		case c == end:
			return
		case c == '[' && s.inBrackets:
			s.brackets()
		}
	}
	s.failed = true
}

// brackets reads the rest of a set of characters such as "[^]/[:alpha:]]".
func (s *sedScript) brackets() {
	if s.peek() == '^' {
		s.at++
	}
	if s.peek() == ']' {
		s.at++
	}
	for s.at < len(s.text) {
		switch c := s.take(); {
		case c == ']':
			return
		case c == '[' && strings.IndexByte(":.=", s.peek()) >= 0 && s.at < len(s.text):
			if length := strings.Index(s.text[s.at+1:], s.text[s.at:s.at+1]+"]"); length >= 0 {
				s.at += length + 3
			}
		}
	}
	s.failed = true
}

// replacement reads what stands between two ends and is no regular expression. A line's end without a backslash before it is a
// fault to sed, which then runs nothing.
func (s *sedScript) replacement(end byte) {
	for s.at < len(s.text) {
		switch s.take() {
		case '\\':
			s.at++
		case end:
			return
		}
	}
	s.failed = true
}

// command reads the command behind addresses, with all that belongs to it.
func (s *sedScript) command() {
	switch c := s.take(); c {
	case '{':
	case '}', '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z':
		s.ends()
	case '#':
		s.line()
	case 'l', 'L', 'q', 'Q':
		s.skip(" \t")
		s.numbers()
		s.ends()
	case ':', 'b', 't', 'T', 'v':
		s.label()
	case 'a', 'i', 'c':
		s.skip(" \t")
		s.failed = s.failed || s.textArgument() == ""
	case 'e':
		s.runs()
	case 'r', 'R':
		s.reads = append(s.reads, s.file())
	case 'w', 'W':
		s.writes = append(s.writes, s.file())
	case 's':
		s.substitution()
	case 'y':
		end := s.take()
		s.replacement(end)
		s.replacement(end)
		s.ends()
	default:
		s.failed = true
	}
}

// ends reads what may follow a command.
func (s *sedScript) ends() {
	if s.skip(" \t\r"); s.at < len(s.text) && strings.IndexByte("\n;}#", s.text[s.at]) < 0 {
		s.failed = true
	}
}

// line is the rest of the line.
func (s *sedScript) line() string {
	rest, _, _ := strings.Cut(s.text[min(s.at, len(s.text)):], "\n")
	s.at += len(rest)
	return rest
}

func (s *sedScript) label() {
	s.skip(" \t")
	for s.at < len(s.text) && strings.IndexByte(" \t\n;}", s.text[s.at]) < 0 {
		s.at++
	}
}

// textArgument is a text that goes up to the end of a line before which no backslash stands.
func (s *sedScript) textArgument() string {
	from := min(s.at, len(s.text))
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		if s.take() == '\\' {
			s.at++
		}
	}
	s.at = min(s.at, len(s.text))
	return s.text[from:s.at]
}

// runs reads the command of "e". Without one, the lines of the input run; what a backslash makes of one is not followed.
func (s *sedScript) runs() {
	s.skip(" \t")
	command := s.textArgument()
	s.commands = append(s.commands, strings.ReplaceAll(command, `\`, ""))
	s.runsInput = s.runsInput || strings.Trim(command, " \t;}") == "" || strings.Contains(command, `\`)
}

// file is the name of a file, which is the rest of the line.
func (s *sedScript) file() string {
	s.skip(" \t")
	name := s.line()
	s.failed = s.failed || name == ""
	return name
}

func (s *sedScript) substitution() {
	end := s.take()
	s.failed = s.failed || end == '\n' || end == '\\'
	s.pattern(end)
	s.replacement(end)
	for s.at < len(s.text) && !s.failed {
		switch c := s.text[s.at]; {
		case c == 'w':
			s.at++
			s.writes = append(s.writes, s.file())
			return
		case c == 'e':
			s.runsInput = true
		case strings.IndexByte("gpIiMm \t\r0123456789", c) < 0:
			n := s.hole(s.at)
			if n == 0 {
				s.ends()
				return
			}
			s.runsInput = true // "e" may be among them
			s.at += n - 1
		}
		s.at++
	}
}

// readSed reads a script in the ways in which versions of sed do; ok is false where it is none in any of them. A "$" of a script
// that is not known as a whole may have been quoted, and then is one of the script's own.
func readSed(script word.Word, hole func(text string, at int) int) (all sedScript, ok bool) {
	none := func(int) int { return 0 }
	ways := []sedScript{{inBrackets: true, hole: none}, {hole: none}}
	if !script.Known {
		holes := func(at int) int { return hole(script.Text, at) }
		ways = append(ways, sedScript{inBrackets: true, hole: holes}, sedScript{hole: holes})
	}
	for i := range ways {
		s := &ways[i]
		if s.text = script.Text; !s.read() {
			continue
		}
		ok = true
		all.reads, all.writes = slices.Concat(all.reads, s.reads), slices.Concat(all.writes, s.writes)
		if script.Known || i >= len(ways)/2 {
			all.commands = append(all.commands, s.commands...)
		} else {
			all.literal = append(all.literal, s.commands...)
		}
		all.runsInput = all.runsInput || s.runsInput
	}
	all.commands, all.literal = value.Sorted(all.commands), value.Sorted(all.literal)
	return all, ok
}
