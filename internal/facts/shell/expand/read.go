package expand

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// ReadLine gives each name its part of a line. Of several lines each may be meant.
func (ex *Expander) ReadLine(names []word.Word, in word.Stream, sc *state.Scope) {
	line, ifs := strings.TrimRight(in.Text, "\n"), sc.IFS()
	follows := in.Known && !strings.Contains(line, "\n") && sc.Variable("IFS").IsKnown()
	f := newFielder()
	if follows {
		f.split(word.Word{Text: line, Known: true, Home: strings.HasPrefix(line, "~")}, ifs)
		f.end()
	}
	for i, w := range names {
		v := word.Word{Text: "$" + w.Text, Items: word.OneOf(in.Names()), Taint: in.Taint}
		switch last := i+1 == len(names); {
		case follows && i >= len(f.out):
			v = word.Word{Known: true, Taint: in.Taint}
		case follows && (!last || len(f.out) == len(names)):
			v = word.Word{Text: f.out[i].Text, Known: true, Taint: in.Taint}
		case follows && strings.Trim(ifs, blanks) == "": // the last name gets the rest, as it stands
			v = word.Word{Text: restOf(line, i, ifs), Known: true, Taint: in.Taint}
		}
		ex.Assign(w.Text, state.Variable{List: []word.Word{v}, Lost: v.Items == nil && !v.Known && v.Taint == (value.Taint{})}, sc)
	}
}

// restOf is a line without the first fields in it, and without the signs that part them at its ends.
func restOf(line string, fields int, ifs string) string {
	line = strings.Trim(line, ifs)
	for range fields {
		if i := strings.IndexAny(line, ifs); i >= 0 && ifs != "" {
			line = strings.TrimLeft(line[i:], ifs)
		}
	}
	return line
}
