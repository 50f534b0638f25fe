package languages

import (
	"regexp"
	"strings"
)

// NamesConstants says that a program in any language does no more than to name constants and to compute with numbers: it calls nothing,
// unless that prints.
func NamesConstants(text string) bool {
	if strings.TrimSpace(text) == "" || len(text) > maxConstants {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if !constant.MatchString(line) {
			return false
		}
	}
	return true
}

// maxConstants bounds what is looked at.
const maxConstants = 4 << 10

// constant is a line: a name, a sign that gives it a value, and numbers or a plain text, or one of these to be printed.
var constant = regexp.MustCompile(`^\s*(?:(?:(?:puts|print|echo|p|disp)\s+|` + printed + `|\w+\s*(?:=|<-|:=)\s*)?` +
	`(?:[-+*/%^ \t]*[(]*[0-9][0-9.]*[)]*)+\s*;?|\w+\s*(?:=|<-|:=)\s*` + plain + `\s*;?|` + printed + plain + `\)\s*;?)?\s*$`)

// printed is the begin of a call that only prints, plain a text in which no language puts in anything.
const (
	printed = `(?:print|println|puts|disp|IO\.puts)\(\s*`
	plain   = `(?:"[\w .,:-]*"|'[\w .,:-]*')`
)
