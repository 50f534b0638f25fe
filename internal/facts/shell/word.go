package shell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
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

// stream is what flows through a pipe, into a file, or out of a substitution.
// The zero value is a standard input that nothing feeds.
type stream struct {
	present bool
	text    string
	known   bool
	// items are patterns for the names in it, where its text is not known.
	items []word
	// path is the file it comes from, if that is known.
	path string
	// file is that path as it is spelt, see [overlay.fileAt].
	file string
	// found says that it is what was found in that file, settled that the session has not made
	// the file what it is.
	found, settled bool
	// over says that it was longer than what is followed.
	over bool
	// orNothing says that it is empty where its command fails.
	orNothing bool
	value.Taint
}

// word is what a stream holds, as one word.
func (s stream) word() word { return word{text: s.text, known: s.known, Taint: s.Taint} }

func literal(text string) stream { return stream{present: true, text: text, known: true} }

func unknown(t value.Taint) stream { return stream{present: true, Taint: t} }

// then is what two commands write one after the other.
func (s stream) then(o stream) stream {
	if !s.present {
		return o
	}
	if !o.present {
		return s
	}
	joined := stream{present: true, over: s.over || o.over, Taint: s.Taint.With(o.Taint)}
	switch both := s.known && o.known; {
	case both && len(s.text)+len(o.text) <= maxValue:
		joined.text, joined.known = s.text+o.text, true
	case both:
		joined.over = true
	case s.items != nil || o.items != nil:
		joined.items = append(s.names(), o.names()...)
	}
	return joined
}

// or is what two commands write of which the second runs where the first fails. Two names of one program, such as "python3"
// and "python", are as good as one.
func (s stream) or(o stream) stream {
	if !s.orNothing || !s.known || !o.known {
		return s.then(o)
	}
	x, y := strings.TrimSpace(s.text), strings.TrimSpace(o.text)
	if programs.Family(x) == programs.Family(y) || programs.Interpreter(x) != "" && programs.Interpreter(x) == programs.Interpreter(y) {
		s.Taint, s.orNothing = s.Taint.With(o.Taint), o.orNothing
		return s
	}
	return stream{present: true, items: oneOf(append(s.names(), o.names()...)), Taint: s.Taint.With(o.Taint)}
}

// names are the patterns for the names in a stream, and the words of one that is known.
func (s stream) names() []word {
	if !s.known {
		return slices.Clip(s.items)
	}
	var out []word
	for _, text := range strings.Fields(strings.ReplaceAll(s.text, "\x00", " ")) {
		if len(out) >= maxFields {
			break
		}
		out = append(out, word{text: text, Taint: s.Taint})
	}
	return out
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
