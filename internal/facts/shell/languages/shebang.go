// Package languages is what a program in a language other than the shell's says by its text alone: the language that its first line
// or its name tells, the modules that it loads and where these lie, the shell texts in it, and whether its options change what
// it does.
//
// Nothing here looks at files or starts anything.
package languages

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// ShellScript is the text of a file that runs as shell.
func ShellScript(s word.Stream) (word.Word, bool) {
	w := word.Word{Text: s.Text, Known: s.Known, Taint: s.Taint}
	if !s.Known || !strings.HasPrefix(s.Text, "#!") {
		return w, true
	}
	line, _, _ := strings.Cut(s.Text, "\n")
	fields := strings.Fields(strings.TrimPrefix(line, "#!"))
	return w, len(fields) > 0 && slices.ContainsFunc(fields, func(f string) bool { return programs.Of(path.Base(f)).Language == "shell" })
}

// WithoutShebang is the text of a program without the line that names its interpreter, if that is the one of the language
// and gets no options there.
func WithoutShebang(lang string, s word.Stream) (code string, ok bool) {
	switch lang {
	case "node", "perl", "lua":
	default:
		return "", false
	}
	words := ShebangWords(s.Text)
	if len(words) == 0 {
		return s.Text, s.Known
	}
	_, code, _ = strings.Cut(s.Text, "\n")
	last := words[len(words)-1]
	return code, s.Known && programs.Interpreter(path.Base(last)) == lang && len(words) <= 2 && !strings.HasPrefix(last, "-")
}

// ShebangWords are the words by which a file says which program runs it.
func ShebangWords(text string) []string {
	line, _, _ := strings.Cut(text, "\n")
	after, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil
	}
	return strings.Fields(after)
}

// ShebangLanguage is the language that the first line of a program names.
func ShebangLanguage(text string) string {
	for _, word := range ShebangWords(text) {
		if lang := programs.Interpreter(path.Base(word)); lang != "" {
			return lang
		}
	}
	return ""
}
