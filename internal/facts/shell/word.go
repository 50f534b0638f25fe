package shell

import (
	"path"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// word is one argument after expansion. What the text does not tell of it is
// written "$NAME" or "$(…)".
type word struct {
	text  string
	known bool
	// glob says that it holds a wildcard that the shell would expand.
	glob bool
	// home says that it starts with the home folder, and not with a "~" of its own.
	home bool
	// assigned says that it starts with the home folder after a "=".
	assigned bool
	value.Taint
	// source is what a process substitution hands over under this word.
	source *stream
	// items are patterns for the names that it may stand for, where it is not known.
	items []word
}

// stands lists the words that a word may stand for.
func (w word) stands() []word {
	if w.items == nil {
		return []word{w}
	}
	return w.items
}

func known(text string) word { return word{text: text, known: true} }

func texts(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// join writes words as one, as "$*" or eval do.
func join(words []word, sep string) word {
	all := word{known: true, home: len(words) > 0 && words[0].home}
	for _, w := range words {
		all.known, all.glob = all.known && w.known, all.glob || w.glob
		all.Taint = all.Taint.With(w.Taint)
		if w.source != nil {
			all.source = w.source
		}
	}
	if len(words) == 1 {
		all.items, all.assigned = words[0].items, words[0].assigned
	}
	all.text = strings.Join(texts(words), sep)
	return all
}

// part is a piece of a word.
func part(w word, text string) word {
	w.home = w.home && strings.HasPrefix(w.text, text) || w.assigned && strings.HasPrefix(text, "~")
	w.text, w.items = text, nil
	return w
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isNumber says that a text is a number as it is written, so that it is not evaluated to another.
func isNumber(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && strconv.Itoa(n) == text
}

func base(w word) string { return path.Base(w.text) }

// wild says whether a wildcard in s is not escaped.
func wild(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			if strings.IndexByte(s[i:], ']') > 0 {
				return true
			}
		}
	}
	return false
}

// unescape removes backslashes: all of them, or those before one of only.
func unescape(s, only string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || only != "" && strings.IndexByte(only, s[i+1]) < 0 {
			b.WriteByte(s[i])
			continue
		}
		if i++; s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// rooted says that a path does not depend on the working directory.
func rooted(p string) bool {
	return strings.HasPrefix(p, "/") || p == "~" || strings.HasPrefix(p, "~/")
}

// oneOf are names of which a text does not tell which are meant.
func oneOf(items []word) []word {
	var out []word
	for _, w := range items {
		w.known = false
		out = append(out, w)
	}
	return out
}

// joined is a pattern below a folder.
func joined(folder word, pattern string) word {
	folder.text = strings.TrimSuffix(folder.text, "/") + "/" + pattern
	folder.glob = true
	return folder
}

// inFolder is a file of a name in a folder.
func inFolder(folder word, name string) word {
	if folder.text == "." {
		folder.text = name
	} else {
		folder.text += "/" + name
	}
	return folder
}

func after(words []word, n int) []word { return words[min(n, len(words)):] }

func first(words []word) word {
	if len(words) == 0 {
		return known("")
	}
	return words[0]
}
