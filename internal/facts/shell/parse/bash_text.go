package parse

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The parser's library reads two things otherwise than bash, by which a text could hide a line: to bash a carriage return is a
// character like any other, which a backslash may stand before, and a backslash at the end of a comment does not join it with the
// next line. So such a return is written as a character that the text has not while it is parsed, and such a backslash as a blank.
// A return at the end of a line is left to the library, which drops it: so a text with the line ends of other systems tells what
// it was meant to do.

var (
	errTooManyJoined = errors.New("too many comments end in a backslash")
	errNoneUnused    = errors.New("it has carriage returns, and every character that could stand for one")
)

// maxJoined is how often a text is parsed until no comment takes the next line with it.
const maxJoined = 8

// asBash is a text as the library has to be given it, and by what its carriage returns are written; empty if it has none.
func asBash(text string) (written, mark string, err error) {
	if strings.Contains(text, "\r") {
		if mark = unusedIn(text); mark == "" {
			return "", "", errNoneUnused
		}
		text = withMarks(text, mark)
	}
	if !strings.Contains(text, "\\\n") || !strings.Contains(text, "#") {
		return text, mark, nil
	}
	for range maxJoined {
		joined, err := joinedComments(text)
		if err != nil || len(joined) == 0 {
			return text, mark, err
		}
		apart := []byte(text)
		for _, at := range joined {
			apart[at] = ' '
		}
		text = string(apart)
	}
	return "", "", errTooManyJoined
}

// withMarks writes a mark for each carriage return but those that end a line.
func withMarks(text, mark string) string {
	var b strings.Builder
	for i := range len(text) {
		ends := i+1 < len(text) && text[i+1] == '\n' && (i == 0 || text[i-1] != '\\')
		if text[i] == '\r' && !ends {
			b.WriteString(mark)
		} else {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// unusedIn is a character of private use that a text has not; empty if it has all of them.
func unusedIn(text string) string {
	const first, last = '\uE000', '\uF8FF'
	var used [last - first + 1]bool
	for _, r := range text {
		if r >= first && r <= last {
			used[r-first] = true
		}
	}
	if i := slices.Index(used[:], false); i >= 0 {
		return string(first + rune(i))
	}
	return ""
}

// joinedComments are the places of the backslashes by which the library joins comments with the lines behind them.
func joinedComments(text string) (places []int, err error) {
	keeping := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	file, err := keeping.Parse(&guarded{text, len(text) <= shallow}, "")
	if err != nil {
		return nil, err
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		comment, ok := node.(*syntax.Comment)
		if ok && strings.HasSuffix(comment.Text, "\\\n") {
			begin := int(comment.Hash.Offset())
			if i := strings.Index(text[min(begin, len(text)):], "\\\n"); i >= 0 {
				places = append(places, begin+i)
			}
		}
		return true
	})
	return places, nil
}

// withReturns writes the carriage returns of parsed statements as such again.
func withReturns(stmts []*syntax.Stmt, mark string) {
	if mark == "" {
		return
	}
	for _, s := range stmts {
		syntax.Walk(s, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.Lit:
				n.Value = strings.ReplaceAll(n.Value, mark, "\r")
			case *syntax.SglQuoted:
				n.Value = strings.ReplaceAll(n.Value, mark, "\r")
			}
			return true
		})
	}
}
