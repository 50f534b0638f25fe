package python

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellWord quotes a text as one word of a shell; holes stay unknown.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	if text == "" {
		return "''"
	}
	var b strings.Builder
	for text != "" {
		at := strings.IndexAny(text, holeStart+variableHole)
		for at >= 0 && !strings.HasPrefix(text[at:], holeStart) && !strings.HasPrefix(text[at:], variableHole) {
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
		name, rest, _ := strings.Cut(text[len(holeStart):], holeEnd)
		b.WriteString(`"$` + name + `"`)
		text = rest
	}
	return b.String()
}

func joinWords(vs objects) objects {
	return eachText(vs, func(v object) (string, bool) {
		words := make([]string, 0, len(v.items))
		for _, item := range v.items {
			if len(item) != 1 {
				return "", false
			}
			words = append(words, shellQuoted(item[0].str()))
		}
		return strings.Join(words, " "), v.shape == isList && !v.open
	})
}

func quotedWords(vs objects) objects {
	return eachText(vs, func(v object) (string, bool) { return shellQuoted(v.str()), v.shape != isList })
}

// shellQuoted quotes a text that holds holes, which stay holes.
func shellQuoted(s string) string {
	if literal(s) {
		return shellWord(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func splitWords(vs objects) objects {
	var out objects
	for _, v := range vs {
		if v.shape != isString || !literal(v.text) || strings.ContainsAny(v.text, "\\#") {
			out = out.with(hidden("value", v.Taint))
			continue
		}
		out = out.with(objects{{shape: isList, items: shellFields(v.text), Taint: v.Taint}})
	}
	return out
}

// shellFields splits a text at white space outside of quotes.
func shellFields(s string) []objects {
	var out []objects
	var word strings.Builder
	var quote rune
	inWord := false
	end := func() {
		if inWord {
			out = append(out, textOf(word.String()))
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

func eachText(vs objects, change func(object) (string, bool)) objects {
	var out objects
	for _, v := range vs {
		if text, ok := change(v); ok && len(text) <= value.MaxValue {
			out = out.with(objects{{shape: isString, text: text, Taint: v.allTaint()}})
			continue
		}
		out = out.with(hidden("text", v.allTaint()))
	}
	return out
}
