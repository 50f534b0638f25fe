package oneliner

import "strings"

var lua = lexis{
	comments: []string{"--"},
	marks:    strings.Fields("... .. == ~= <= >= // << >> ::"),
	singles:  "+-*/%^#&~|<>=(){}[];:,.",
	special:  luaText,
}

func luaText(s *scanner) bool {
	c := s.code[s.at]
	switch {
	case c == '"' || c == '\'':
		s.quoted(c, "")
	case c == '[':
		return s.longBracket()
	default:
		return false
	}
	return true
}

// longBracket reads [[…]] and [==[…]==].
func (s *scanner) longBracket() bool {
	level := len(s.code[s.at+1:]) - len(strings.TrimLeft(s.code[s.at+1:], "="))
	begin := s.at + level + 2
	if begin > len(s.code) || s.code[begin-1] != '[' {
		return false
	}
	body, _, ok := strings.Cut(s.code[begin:], "]"+strings.Repeat("=", level)+"]")
	s.failed = s.failed || !ok
	s.add(text, body, ok && !strings.Contains(body, "\n"))
	s.at = min(begin+len(body)+level+2, len(s.code))
	return true
}

var (
	luaWords = set(`and break do else elseif end false for function goto if in local nil not or repeat return then
		true until while print tostring tonumber type pairs ipairs select unpack error assert pcall next rawlen
		rawequal arg`)
	luaLibraries = map[string]map[string]effect{
		"string": {}, "table": {}, "math": {}, "utf8": {},
		"io": {"read": none, "write": none, "stdout": none, "stderr": none, "stdin": none, "lines": reads, "open": opens, "close": none},
		"os": {"time": none, "date": none, "clock": none, "exit": none, "difftime": none},
	}
	luaFunctions = set(`byte char find format gmatch gsub len lower upper match rep reverse sub concat insert remove
		sort unpack pack move abs ceil floor max min sqrt sin cos tan exp log pi huge random randomseed fmod modf
		tointeger type codepoint charpattern codes offset`)
)

// readLua lets a program call what it has: none of the functions that it can get at starts a program.
func readLua(tokens []token) (Effects, bool) {
	var e Effects
	own := map[string]bool{}
	for i, t := range tokens {
		before := at(tokens, i-1)
		inLoop := before.named("for") || before.is(",")
		switch next := at(tokens, i+1); {
		case t.named("function"):
			bindLua(own, tokens, i+1)
		case t.kind == word && (before.named("local") || next.is("=") || inLoop && (next.is(",") || next.named("in"))):
			own[t.text] = true
		}
	}
	for i, t := range tokens {
		if t.kind != word {
			continue
		}
		before := at(tokens, i-1)
		switch library := luaLibraries[t.text]; {
		case before.is(".", ":"):
		case library != nil:
			if !at(tokens, i+1).is(".") || !e.luaCall(t.text, library, tokens, i+2) {
				return Effects{}, false
			}
		case !luaWords[t.text] && (!own[t.text] || luaHeld[t.text]):
			return Effects{}, false
		}
	}
	return e, true
}

// luaHeld are functions that run texts and files.
var luaHeld = set("load loadstring dofile loadfile require debug package _G _ENV getfenv setfenv getmetatable setmetatable rawget rawset " +
	"module collectgarbage")

// bindLua binds the name and the arguments of a function.
func bindLua(own map[string]bool, tokens []token, i int) {
	for ; i < len(tokens) && !tokens[i].is(")"); i++ {
		if tokens[i].kind == word {
			own[tokens[i].text] = true
		}
	}
}

func (e *Effects) luaCall(library string, members map[string]effect, tokens []token, i int) bool {
	name := at(tokens, i).text
	if len(members) == 0 {
		return luaFunctions[name]
	}
	does, listed := members[name]
	next := at(tokens, i+1)
	switch {
	case !listed || does == none:
		return listed
	case !next.is("("):
		return false
	case at(tokens, i+2).is(")"):
		return does == reads // the standard input
	case does == opens:
		return e.opened(tokens, i+2)
	}
	return e.add(does, tokens, i+2)
}

// opened notes a file that is opened, with its mode after it.
func (e *Effects) opened(tokens []token, i int) bool {
	if at(tokens, i+1).is(")") {
		return e.add(reads, tokens, i)
	}
	mode := at(tokens, i+2)
	if !at(tokens, i+1).is(",") || mode.kind != text || !mode.plain {
		return false
	}
	switch strings.Trim(mode.text, "bt") {
	case "r":
		return e.add(reads, tokens, i)
	case "w", "a":
		return e.add(writes, tokens, i)
	}
	return false
}
