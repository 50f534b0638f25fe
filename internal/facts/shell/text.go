package shell

import (
	"strings"
)

// quotedText is the string literal at the start of s.
func quotedText(s string) (string, bool) {
	if s == "" || !strings.ContainsRune("\"'`", rune(s[0])) {
		return "", false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return unescape(s[1:i], `"'\`), true
		}
	}
	return "", false
}
