// Package word is what the words and streams of a shell text stand for, as far as the text tells.
//
// A value is known, or unknown with a spelling ("$NAME", "$(…)"), with the names that it may stand for, and with its taint: whether
// it comes from the network, from a decoder, or from a file. What is promised: a value never gets longer than the limits here, and
// what is made of a value keeps its taint.
//
// Not here: how a text is expanded to words, and which file a word names.
package word

import (
	"path"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// What one word, and one list of words, may hold.
const (
	MaxFields = 4096
	// MaxItems is how many names a word may stand for.
	MaxItems = 256
	// MaxValue is how long a word and a stream may be: what a text spells out fits in.
	MaxValue = value.MaxText
	// MaxRewrite is how long a value may be for ${x%…} and its like.
	MaxRewrite = 1024
)

// Word is one argument after expansion. What the text does not tell of it is
// written "$NAME" or "$(…)".
type Word struct {
	Text  string
	Known bool
	// Glob says that it holds a wildcard that the shell would expand.
	Glob bool
	// Home says that it starts with the home folder, and not with a "~" of its own.
	Home bool
	// AssignsHome says that it starts with the home folder after a "=".
	AssignsHome bool
	value.Taint
	// Source is what a process substitution hands over under this word.
	Source *Stream
	// Items are patterns for the names that it may stand for, where it is not known.
	Items []Word
}

// Alternatives lists the words that a word may stand for.
func (w Word) Alternatives() []Word {
	if w.Items == nil {
		return []Word{w}
	}
	return w.Items
}

// Of is a word that the text tells.
func Of(text string) Word { return Word{Text: text, Known: true} }

// Texts are words as they are shown.
func Texts(words []Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// Join writes words as one, as "$*" or eval do.
func Join(words []Word, sep string) Word {
	all := Word{Known: true, Home: len(words) > 0 && words[0].Home}
	for _, w := range words {
		all.Known, all.Glob = all.Known && w.Known, all.Glob || w.Glob
		all.Taint = all.Taint.With(w.Taint)
		if w.Source != nil {
			all.Source = w.Source
		}
	}
	if len(words) == 1 {
		all.Items, all.AssignsHome = words[0].Items, words[0].AssignsHome
	}
	all.Text = strings.Join(Texts(words), sep)
	return all
}

// Part is a piece of a word.
func Part(w Word, text string) Word {
	w.Home = w.Home && strings.HasPrefix(w.Text, text) || w.AssignsHome && strings.HasPrefix(text, "~")
	w.Text, w.Items = text, nil
	return w
}

// AllDigits says that a text is a number without a sign.
func AllDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// IsNumber says that a text is a number as it is written, so that it is not evaluated to another.
func IsNumber(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && strconv.Itoa(n) == text
}

// Base is the last name in the path that a word is.
func Base(w Word) string { return path.Base(w.Text) }

// HasWildcard says whether a wildcard in s is not escaped.
func HasWildcard(s string) bool {
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

// Unescape removes backslashes: all of them, or those before one of only.
func Unescape(s, only string) string {
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

// IsRooted says that a path does not depend on the working directory.
func IsRooted(p string) bool {
	return strings.HasPrefix(p, "/") || p == "~" || strings.HasPrefix(p, "~/")
}

// OneOf are names of which a text does not tell which are meant.
func OneOf(items []Word) []Word {
	var out []Word
	for _, w := range items {
		w.Known = false
		out = append(out, w)
	}
	return out
}

// Below is a pattern below a folder.
func Below(folder Word, pattern string) Word {
	folder.Text = strings.TrimSuffix(folder.Text, "/") + "/" + pattern
	folder.Glob = true
	return folder
}

// InFolder is a file of a name in a folder.
func InFolder(folder Word, name string) Word {
	if folder.Text == "." {
		folder.Text = name
	} else {
		folder.Text += "/" + name
	}
	return folder
}

// After are the words behind the first n.
func After(words []Word, n int) []Word { return words[min(n, len(words)):] }

// First is the first of some words, the empty word without any.
func First(words []Word) Word {
	if len(words) == 0 {
		return Of("")
	}
	return words[0]
}
