package shell

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// singleQuoted adds what stands in single quotes, behind "$" with its escapes. Those of control signs are not followed.
func (f *fielder) singleQuoted(q *syntax.SglQuoted) {
	if !q.Dollar {
		f.add(q.Value)
		return
	}
	s, _, err := expand.Format(new(expand.Config), q.Value, nil)
	if err != nil || strings.Contains(q.Value, `\c`) {
		f.hole("$'…'", value.Taint{})
		return
	}
	s, _, _ = strings.Cut(s, "\x00")
	f.add(s)
}

// fielder gathers the parts of one word of the text into fields.
type fielder struct {
	out []word
	cur word
	b   strings.Builder
	// open says that cur is a field even if it is empty.
	open bool
	// over says that something was left out, since it was too long or too much.
	over bool
}

func newFielder() *fielder { return &fielder{cur: word{known: true}} }

func (f *fielder) add(text string) {
	if f.b.Len()+len(text) > maxValue {
		f.cur.known, f.over = false, true
		text = ""
	}
	for i := range f.cur.items {
		f.cur.items[i].text += text
	}
	f.b.WriteString(text)
	f.open = true
}

// hole adds a part that is not known, by the name it is shown under.
func (f *fielder) hole(shown string, t value.Taint) {
	f.add(shown)
	f.cur.known = false
	f.cur.Taint = f.cur.Taint.With(t)
}

// word adds an expanded value as one piece.
func (f *fielder) word(w word) {
	before := f.b.String()
	f.cur.home = f.cur.home || w.home && before == ""
	f.cur.assigned = f.cur.assigned || w.home && strings.HasSuffix(before, "=")
	if w.items == nil {
		f.add(w.text)
	} else {
		f.names(before, w)
	}
	f.cur.known = f.cur.known && w.known
	f.cur.Taint = f.cur.Taint.With(w.Taint)
	if w.source != nil {
		f.cur.source = w.source
	}
}

// names adds a value that stands for one of several names.
func (f *fielder) names(before string, w word) {
	lefts := f.cur.items
	if lefts == nil {
		lefts = []word{{text: before, home: f.cur.home}}
	}
	f.cur.items = nil
	f.add(w.text)
	if len(lefts) > 1 && len(lefts)*len(w.items) > maxItems {
		return
	}
	for _, left := range lefts {
		for _, item := range w.items {
			item.home = item.home && left.text == "" || left.home
			item.text, item.glob, item.known = left.text+item.text, left.glob || item.glob, false
			f.cur.items = append(f.cur.items, item)
		}
	}
}

// split adds an expanded value that the shell splits into fields.
func (f *fielder) split(w word, ifs string) {
	if !w.known {
		f.word(w)
		return
	}
	rest := w
	for {
		i := strings.IndexAny(rest.text, ifs)
		if i < 0 || ifs == "" {
			break
		}
		piece := rest
		piece.text = rest.text[:i]
		if i > 0 {
			f.pattern(piece)
		}
		between, behind := delimiter(rest.text[i:], ifs)
		f.open = f.open || strings.TrimLeft(between, blanks) != ""
		f.end()
		rest.text = behind
	}
	if rest.text != "" {
		f.pattern(rest)
	}
}

// blanks are the signs that part fields without making empty ones.
const blanks = " \t\n"

// delimiter is what parts two fields at the beginning of a text, and the text behind it: blanks, and one other sign.
func delimiter(text, ifs string) (between, behind string) {
	blank := strings.Map(func(r rune) rune {
		if strings.ContainsRune(ifs, r) {
			return r
		}
		return -1
	}, blanks)
	behind = strings.TrimLeft(text, blank)
	if r, n := utf8.DecodeRuneInString(behind); n > 0 && strings.ContainsRune(ifs, r) {
		behind = strings.TrimLeft(behind[n:], blank)
	}
	return text[:len(text)-len(behind)], behind
}

// pattern adds an unquoted piece, in which wildcards count.
func (f *fielder) pattern(w word) {
	f.word(w)
	if strings.ContainsAny(w.text, "*?[") || strings.Contains(w.text, "@(") || strings.Contains(w.text, "+(") || strings.Contains(w.text,
		"!(") {
		f.cur.glob = true
	}
}

// end closes the current field if there is one.
func (f *fielder) end() {
	f.over = f.over || f.open && len(f.out) >= maxFields
	if f.open && len(f.out) < maxFields {
		f.cur.text = f.b.String()
		for i := range f.cur.items {
			f.cur.items[i].glob = f.cur.items[i].glob || f.cur.glob
		}
		f.out = append(f.out, f.cur)
	}
	f.b.Reset()
	f.cur, f.open = word{known: true}, false
}
