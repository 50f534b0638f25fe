// Package oneliner reads short programs of Perl, Node, PHP, Lua and awk that only print, compute and read and write
// files that they name.
//
// What is promised: a program is read only where every word, operator and quoted text of it is on the list of its
// language. What a text hides from its reader (evaluated strings, calls by a name that is computed, modules that are
// not listed) is therefore not read, and neither is anything that the lists do not know. Reading takes time in
// proportion to the text.
//
// Not here: options and arguments of the interpreters (package shell knows them), and what reading and writing a file means
// (the policies' tables say that).
package oneliner

import "strings"

// Effects are the files that a program names. Operands says that it reads those that its arguments name. Loads are more files
// of it, as it names them: what they do is not among the effects.
type Effects struct {
	Reads, Writes []string
	Operands      bool
	Loads         []string
}

// maxCode bounds a program that is read; a longer one is no short one.
const maxCode = 64 << 10

// reader finds in the tokens of a program what it reads and writes; ok is false if one of them is not on the list.
type reader func(tokens []token) (Effects, bool)

// language is how one is cut into tokens, and how these are read.
type language struct {
	lexis lexis
	read  reader
}

var languages = map[string]language{
	"awk":  {awk, readAwk},
	"lua":  {lua, readLua},
	"node": {javascript, readJavaScript},
	"perl": {perl, readPerl},
	"php":  {php, readPHP},
}

// Read finds what a program reads and writes. It is false where any part of the program is not on the list.
func Read(name, code string) (Effects, bool) {
	l, ok := languages[name]
	if !ok || len(code) > maxCode {
		return Effects{}, false
	}
	tokens, ok := l.lexis.tokens(code)
	if !ok {
		return Effects{}, false
	}
	e, ok := l.read(tokens)
	if !ok {
		return Effects{}, false
	}
	return e, true
}

// effect is what a function does with the file that its first argument names.
type effect int

const (
	none effect = iota
	reads
	writes
	// opens reads or writes, as its mode says.
	opens
)

// add notes what a function does with the file that the literal at a place names; ok is false if the place holds
// no plain literal that is a whole argument.
func (e *Effects) add(does effect, tokens []token, at int) bool {
	if at+1 >= len(tokens) {
		return false
	}
	file, next := tokens[at], tokens[at+1]
	if file.kind != text || !file.plain || !next.is(",", ")", "]", ";") {
		return false
	}
	return e.note(does, file.text)
}

func (e *Effects) note(does effect, file string) bool {
	if file == "" || strings.ContainsFunc(file, func(r rune) bool { return r < ' ' || r == '|' }) {
		return false
	}
	switch does {
	case reads:
		e.Reads = append(e.Reads, file)
	case writes:
		e.Writes = append(e.Writes, file)
	case none, opens:
		return false
	}
	return true
}
