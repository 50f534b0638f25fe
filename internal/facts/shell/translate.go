package shell

import (
	"cmp"
	"errors"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

var errNotTranslated = errors.New("not translated")

// translated is what tr makes of a text.
func translated(s string, args *arguments) (string, error) {
	if len(args.operands) == 0 || args.has("-c", "-C", "--complement", "-s", "--squeeze-repeats") {
		return "", errNotTranslated
	}
	from, ok := trSet(args.operands[0].text)
	if !ok || !join(args.operands, "").known {
		return "", errNotTranslated
	}
	if args.has("-d", "--delete") {
		return strings.Map(func(r rune) rune {
			if indexRune(from, r) >= 0 {
				return -1
			}
			return r
		}, s), nil
	}
	if len(args.operands) < 2 {
		return "", errNotTranslated
	}
	to, ok := trSet(args.operands[1].text)
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
			if out = append(out, c); len(out) > maxFields {
				return nil, false
			}
		}
		i += 2
	}
	return out, true
}

// pathPart is what basename and dirname print.
func pathPart(name string, args *arguments) stream {
	w := first(args.operands)
	if !w.known || len(args.operands) != 1 {
		return unknown(w.Taint)
	}
	s := stream{present: true, known: true, Taint: w.Taint, text: base(w)}
	if name == "dirname" {
		s.text = "."
		path := strings.TrimRight(w.text, "/")
		if i := strings.LastIndexByte(path, '/'); i >= 0 || path != w.text && path == "" {
			s.text = cmp.Or(strings.TrimRight(path[:max(i, 0)], "/"), "/")
		}
	}
	return s
}
