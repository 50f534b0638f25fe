package word

import (
	"strings"
)

// StringAt is the string literal at the start of s.
func StringAt(s string) (string, bool) {
	if s == "" || !strings.ContainsRune("\"'`", rune(s[0])) {
		return "", false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return Unescape(s[1:i], `"'\`), true
		}
	}
	return "", false
}
