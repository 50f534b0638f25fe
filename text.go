package bailiff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsVariable says whether a text is the name of a variable of the environment.
func IsVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// longestTraceparent bounds those of later versions, which may be longer than ours.
const longestTraceparent = 256

// CanBeTraceparent says whether a text may be a traceparent of W3C's, and so can stand
// in a header whatever else it is.
func CanBeTraceparent(text string) bool {
	return text != "" && len(text) <= longestTraceparent && strings.Trim(text, "0123456789abcdef-") == ""
}

// Sentence is a text, such as an error's, with a capital at its beginning and one
// full stop at its end; an empty text stays empty.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimRight(text[size:], ".") + "."
}

// Beginning is at most so many bytes of a text, without a part of a character at
// its end.
func Beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// foreignBytes bounds what is repeated of foreign words: no less than what is
// kept of the last ones (internal/excerpt), whose end tells most.
const foreignBytes = 512

// Foreign makes one short line of another's words, such as a server's: nothing
// in it moves a cursor or begins a line of a log, and no secret that they repeat is
// in it.
func Foreign(words string, secrets ...Secret) string {
	for _, secret := range secrets {
		if value := secret.Reveal(); value != "" {
			words = strings.ReplaceAll(words, value, "[secret]")
		}
	}
	line := strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case c == utf8.RuneError || !unicode.IsPrint(c):
			return -1
		}
		return c
	}, words)
	return Beginning(strings.Join(strings.Fields(line), " "), foreignBytes)
}

// ForeignError words an error as [Foreign] does, where its text is another's.
// errors.Is and errors.As still find what it is.
func ForeignError(err error, secrets ...Secret) error {
	return foreign{Foreign(err.Error(), secrets...), err}
}

type foreign struct {
	text  string
	cause error
}

func (f foreign) Error() string { return f.text }
func (f foreign) Unwrap() error { return f.cause }
