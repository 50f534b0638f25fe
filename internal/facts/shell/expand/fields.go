package expand

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// fielder gathers the parts of one word of the text into fields.
type fielder struct {
	out []word.Word
	cur word.Word
	b   strings.Builder
	// open says that cur is a field even if it is empty.
	open bool
	// over says that something was left out, since it was too long or too much.
	over bool
}

func newFielder() *fielder { return &fielder{cur: word.Word{Known: true}} }

// singleQuotes adds what stands in single quotes, behind "$" with its escapes. Those of control signs are not followed.
func (f *fielder) singleQuotes(q *syntax.SglQuoted) {
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

func (f *fielder) add(text string) {
	if f.b.Len()+len(text) > word.MaxValue {
		f.cur.Known, f.over = false, true
		text = ""
	}
	for i := range f.cur.Items {
		f.cur.Items[i].Text += text
	}
	f.b.WriteString(text)
	f.open = true
}

// hole adds a part that is not known, by the name it is shown under.
func (f *fielder) hole(shown string, t value.Taint) {
	f.add(shown)
	f.cur.Known = false
	f.cur.Taint = f.cur.Taint.With(t)
}

// word adds an expanded value as one piece.
func (f *fielder) word(w word.Word) {
	before := f.b.String()
	f.cur.Home = f.cur.Home || w.Home && before == ""
	f.cur.AssignsHome = f.cur.AssignsHome || w.Home && strings.HasSuffix(before, "=")
	if w.Items == nil {
		f.add(w.Text)
	} else {
		f.names(before, w)
	}
	f.cur.Known = f.cur.Known && w.Known
	f.cur.Taint = f.cur.Taint.With(w.Taint)
	if w.Source != nil {
		f.cur.Source = w.Source
	}
}

// names adds a value that stands for one of several names.
func (f *fielder) names(before string, w word.Word) {
	lefts := f.cur.Items
	if lefts == nil {
		lefts = []word.Word{{Text: before, Home: f.cur.Home}}
	}
	f.cur.Items = nil
	f.add(w.Text)
	if len(lefts) > 1 && len(lefts)*len(w.Items) > word.MaxItems {
		return
	}
	for _, left := range lefts {
		for _, item := range w.Items {
			item.Home = item.Home && left.Text == "" || left.Home
			item.Text, item.Glob, item.Known = left.Text+item.Text, left.Glob || item.Glob, false
			f.cur.Items = append(f.cur.Items, item)
		}
	}
}

// split adds an expanded value that the shell splits into fields.
func (f *fielder) split(w word.Word, ifs string) {
	if !w.Known {
		f.word(w)
		return
	}
	rest := w
	for {
		i := strings.IndexAny(rest.Text, ifs)
		if i < 0 || ifs == "" {
			break
		}
		piece := rest
		piece.Text = rest.Text[:i]
		if i > 0 {
			f.pattern(piece)
		}
		between, behind := delimiter(rest.Text[i:], ifs)
		f.open = f.open || strings.TrimLeft(between, blanks) != ""
		f.end()
		rest.Text = behind
	}
	if rest.Text != "" {
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
func (f *fielder) pattern(w word.Word) {
	f.word(w)
	if strings.ContainsAny(w.Text, "*?[") || strings.Contains(w.Text, "@(") || strings.Contains(w.Text, "+(") || strings.Contains(w.Text,
		"!(") {
		f.cur.Glob = true
	}
}

// end closes the current field if there is one.
func (f *fielder) end() {
	f.over = f.over || f.open && len(f.out) >= word.MaxFields
	if f.open && len(f.out) < word.MaxFields {
		f.cur.Text = f.b.String()
		for i := range f.cur.Items {
			f.cur.Items[i].Glob = f.cur.Items[i].Glob || f.cur.Glob
		}
		f.out = append(f.out, f.cur)
	}
	f.b.Reset()
	f.cur, f.open = word.Word{Known: true}, false
}
