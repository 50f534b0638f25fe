package languages

import (
	"strings"
)

// OnlySubstitutes says whether a Perl program is nothing but substitutions of text
// ("s/a/b/g; y/a/b/"): the way to edit files in place, which runs nothing.
func OnlySubstitutes(code string) bool {
	if strings.ContainsAny(code, "`@") || strings.Contains(code, "${") || strings.Contains(code, "(?{") || strings.Contains(code, "(??") {
		return false
	}
	for code = strings.TrimLeft(code, "; \t\n"); code != ""; code = strings.TrimLeft(code, "; \t\n") {
		rest, ok := substitution(code)
		if !ok {
			return false
		}
		code = rest
	}
	return true
}

// substitution cuts one off a program.
func substitution(code string) (rest string, ok bool) {
	body, ok := strings.CutPrefix(code, "tr")
	if !ok {
		if body = strings.TrimLeft(code, "sy"); len(code)-len(body) != 1 {
			return "", false
		}
	}
	if body == "" || !strings.ContainsRune("/,|#!:%", rune(body[0])) {
		return "", false
	}
	mark := body[0]
	for range 2 {
		if body, ok = afterDelimiter(body[1:], mark); !ok {
			return "", false
		}
	}
	rest = strings.TrimLeft(body[1:], "abcdfghijklmnopqrstuvwxyz") // with "e" it is a program
	return rest, rest == "" || strings.ContainsRune("; \n", rune(rest[0]))
}

// afterDelimiter is s from the first mark on that is not escaped.
func afterDelimiter(s string, mark byte) (string, bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case mark:
			return s[i:], true
		}
	}
	return "", false
}
