package object

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// ShellWord quotes a text as one word of a shell; holes stay unknown.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	if text == "" {
		return "''"
	}
	var b strings.Builder
	for text != "" {
		at := strings.IndexAny(text, HoleStart+VariableHole)
		for at >= 0 && !strings.HasPrefix(text[at:], HoleStart) && !strings.HasPrefix(text[at:], VariableHole) {
			at = -1
		}
		if at < 0 {
			at = len(text)
		}
		if at > 0 {
			b.WriteString("'" + strings.ReplaceAll(strings.ReplaceAll(text[:at], "\x00", ""), "'", `'\''`) + "'")
		}
		if text = text[at:]; text == "" {
			break
		}
		name, rest, _ := strings.Cut(text[len(HoleStart):], HoleEnd)
		b.WriteString(`"$` + name + `"`)
		text = rest
	}
	return b.String()
}

// JoinWords is the shell text of lists of words.
func JoinWords(vs Objects) Objects {
	return eachText(vs, func(v Object) (string, bool) {
		words := make([]string, 0, len(v.Items))
		for _, item := range v.Items {
			if len(item) != 1 {
				return "", false
			}
			words = append(words, shellQuoted(item[0].Str()))
		}
		return strings.Join(words, " "), v.Shape == IsList && !v.Open
	})
}

// QuotedWords are texts quoted for a shell.
func QuotedWords(vs Objects) Objects {
	return eachText(vs, func(v Object) (string, bool) { return shellQuoted(v.Str()), v.Shape != IsList })
}

// shellQuoted quotes a text that holds holes, which stay holes.
func shellQuoted(s string) string {
	if Literal(s) {
		return ShellWord(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// SplitWords are the words of shell texts.
func SplitWords(vs Objects) Objects {
	var out Objects
	for _, v := range vs {
		if v.Shape != IsString || !Literal(v.Text) || strings.ContainsAny(v.Text, "\\#") {
			out = out.With(Hidden("value", v.Taint))
			continue
		}
		out = out.With(Objects{{Shape: IsList, Items: shellFields(v.Text), Taint: v.Taint}})
	}
	return out
}

// shellFields splits a text at white space outside of quotes.
func shellFields(s string) []Objects {
	var out []Objects
	var word strings.Builder
	var quote rune
	inWord := false
	end := func() {
		if inWord {
			out = append(out, TextOf(word.String()))
			word.Reset()
			inWord = false
		}
	}
	for _, c := range s {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			end()
		default:
			inWord = true
			word.WriteRune(c)
		}
	}
	end()
	return out
}

func eachText(vs Objects, change func(Object) (string, bool)) Objects {
	var out Objects
	for _, v := range vs {
		if text, ok := change(v); ok && len(text) <= value.MaxValue {
			out = out.With(Objects{{Shape: IsString, Text: text, Taint: v.AllTaint()}})
			continue
		}
		out = out.With(Hidden("text", v.AllTaint()))
	}
	return out
}
