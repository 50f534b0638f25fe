package output

import (
	"cmp"
	"errors"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

var errNotTranslated = errors.New("not translated")

// trText is what tr makes of a text.
func trText(s string, args *call.Arguments) (string, error) {
	if len(args.Operands) == 0 || args.Has("-c", "-C", "--complement", "-s", "--squeeze-repeats") {
		return "", errNotTranslated
	}
	from, ok := trSet(args.Operands[0].Text)
	if !ok || !word.Join(args.Operands, "").Known {
		return "", errNotTranslated
	}
	if args.Has("-d", "--delete") {
		return strings.Map(func(r rune) rune {
			if indexRune(from, r) >= 0 {
				return -1
			}
			return r
		}, s), nil
	}
	if len(args.Operands) < 2 {
		return "", errNotTranslated
	}
	to, ok := trSet(args.Operands[1].Text)
	if !ok || len(to) == 0 {
		return "", errNotTranslated
	}
	return strings.Map(func(r rune) rune {
		if i := indexRune(from, r); i >= 0 {
			return to[min(i, len(to)-1)]
		}
		return r
	}, s), nil
}

func indexRune(set []rune, r rune) int {
	for i, c := range set {
		if c == r {
			return i
		}
	}
	return -1
}

// trSet are the characters of a set such as "a-zA-Z", "\n" or "[:upper:]".
func trSet(s string) ([]rune, bool) {
	s = strings.NewReplacer("[:upper:]", "A-Z", "[:lower:]", "a-z", "[:digit:]", "0-9", "[:space:]", " \t\n\r\v\f").Replace(s)
	if strings.Contains(s, "[:") || strings.Contains(s, "[=") {
		return nil, false
	}
	s, _, err := expand.Format(new(expand.Config), s, nil)
	if err != nil {
		return nil, false
	}
	r := []rune(s)
	var out []rune
	for i := 0; i < len(r); i++ {
		if i+2 >= len(r) || r[i+1] != '-' {
			out = append(out, r[i])
			continue
		}
		for c := r[i]; c <= r[i+2]; c++ {
			if out = append(out, c); len(out) > word.MaxFields {
				return nil, false
			}
		}
		i += 2
	}
	return out, true
}

// pathPart is what basename and dirname print.
func pathPart(name string, args *call.Arguments) word.Stream {
	w := word.First(args.Operands)
	if !w.Known || len(args.Operands) != 1 {
		return word.Unknown(w.Taint)
	}
	s := word.Stream{Present: true, Known: true, Taint: w.Taint, Text: word.Base(w)}
	if name == "dirname" {
		s.Text = "."
		path := strings.TrimRight(w.Text, "/")
		if i := strings.LastIndexByte(path, '/'); i >= 0 || path != w.Text && path == "" {
			s.Text = cmp.Or(strings.TrimRight(path[:max(i, 0)], "/"), "/")
		}
	}
	return s
}
