package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

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

// readLine gives each name its part of a line. Of several lines each may be meant.
func (ex *expander) readLine(names []word, in stream, sc *scope) {
	line, ifs := strings.TrimRight(in.text, "\n"), sc.ifs()
	follows := in.known && !strings.Contains(line, "\n") && sc.vars["IFS"].known()
	f := newFielder()
	if follows {
		f.split(word{text: line, known: true, home: strings.HasPrefix(line, "~")}, ifs)
		f.end()
	}
	for i, w := range names {
		v := word{text: "$" + w.text, items: oneOf(in.names()), Taint: in.Taint}
		switch last := i+1 == len(names); {
		case follows && i >= len(f.out):
			v = word{known: true, Taint: in.Taint}
		case follows && (!last || len(f.out) == len(names)):
			v = word{text: f.out[i].text, known: true, Taint: in.Taint}
		case follows && strings.Trim(ifs, blanks) == "": // the last name gets the rest, as it stands
			v = word{text: restOf(line, i, ifs), known: true, Taint: in.Taint}
		}
		ex.assign(w.text, variable{list: []word{v}, lost: v.items == nil && !v.known && v.Taint == (value.Taint{})}, sc)
	}
}
