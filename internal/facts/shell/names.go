package shell

import (
	"path"
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// oneOf are names of which a text does not tell which are meant.
func oneOf(items []word) []word {
	var out []word
	for _, w := range items {
		w.known = false
		out = append(out, w)
	}
	return out
}

// named is a stream of names.
func named(t value.Taint, items []word) stream {
	return stream{present: true, items: items, Taint: t}
}

// lists are the names that a program writes, by its kind of output.
func (a *analysis) lists(name string, inv *invocation, args *arguments) (stream, bool) {
	switch a.about(name).Own.Output {
	case programs.Listed:
		return named(inv.in.Taint, oneOf(listing(args))), true
	case programs.Named:
		return named(inv.in.Taint, oneOf(args.operands)), true
	case programs.Matching:
		if !args.has("-l", "-L", "--files", "--files-with-matches", "--files-without-match") {
			return a.selected(inv, args), len((&effect{args: args}).afterScript(args.operands)) == 0
		}
		return named(inv.in.Taint, oneOf(below((&effect{args: args}).searched()))), true
	case programs.Sought:
		var items []word
		for _, w := range args.operands {
			items = append(items, word{text: "$(…)/" + strings.TrimPrefix(w.text, "/"), glob: w.glob})
		}
		return named(inv.in.Taint, items), true
	case programs.Selected:
		return a.selected(inv, args), true
	}
	return stream{}, false
}

// searched are the files and folders that a search for text goes through.
func (e *effect) searched() []word {
	words := e.args.operands
	if !e.args.has("--files") {
		words = e.afterScript(words)
	}
	if len(words) == 0 {
		return []word{known(".")}
	}
	return words
}

// below are names, and all that may lie below them.
func below(words []word) []word {
	var out []word
	for _, w := range words {
		out = append(out, w)
		if path.Ext(w.text) == "" && !w.glob {
			out = append(out, joined(w, "**/*"), joined(w, "*"))
		}
	}
	return out
}

// joined is a pattern below a folder.
func joined(folder word, pattern string) word {
	folder.text = strings.TrimSuffix(folder.text, "/") + "/" + pattern
	folder.glob = true
	return folder
}

// listing are the names that "ls" writes: those of its operands that are files, and
// the names in the others, as seen from there.
func listing(args *arguments) []word {
	words := args.operands
	if args.has("-d", "--directory") && len(words) > 0 {
		return words
	}
	return append(words[:len(words):len(words)], word{text: "*", known: true, glob: true})
}

// selected are the lines that a filter lets pass: some of those that it reads.
func (fs *overlay) selected(inv *invocation, args *arguments) stream {
	in := inv.in
	for _, w := range args.operands {
		if s, ok := fs.holds(w, inv.in, inv.sc, inv.sc); ok {
			in = s
		}
	}
	out := named(in.Taint.With(fs.inputTaint(inv, args)), in.names())
	out.over = in.over
	return out
}

// completes reads what "compgen" runs and expands.
func (a *analysis) completes(name string, inv *invocation, args *arguments) {
	for _, o := range args.options {
		switch {
		case o.name == "-C":
			a.text(name, inv, o.value, inv.sc.fork())
		case o.name == "-W" && expands(o.value.text), o.name == "-W" && substitutes.MatchString(o.value.text), o.name == "-F":
			a.hide()
		}
	}
}

// substitutes is the beginning of a process substitution.
var substitutes = regexp.MustCompile(`[<>]\(`)

// completions are the names that "compgen" writes.
func completions(args *arguments) stream {
	var items []word
	for _, o := range args.options {
		if o.name == "-G" || o.name == "-W" {
			w := o.value
			w.glob = true
			items = append(items, w)
		}
	}
	if args.has("-f", "-d", "-A") {
		for _, w := range args.operands {
			w.text, w.glob = w.text+"*", true
			items = append(items, w)
		}
	}
	return named(value.Taint{}, items)
}

// readInto fills the variables of "read" and its like with their input.
func (a *analysis) readInto(name string, inv *invocation, args *arguments) {
	in := inv.in
	if number, ok := args.value("-u"); ok {
		opened, _ := inv.sc.open.at(number.text)
		in = opened.in
	}
	a.whole(in)
	if name == "read" && (args.has("-n", "-N", "-d", "-i") || !args.has("-r") && strings.Contains(in.text, `\`)) {
		in = stream{present: true, items: in.names(), Taint: in.Taint} // a part of it, or without the backslashes
	}
	into, array := args.value("-a")
	switch names := args.operands; {
	case array || name == "mapfile" || name == "readarray":
		if !array {
			into = first(append(names, known("MAPFILE")))
		}
		a.assign(into.text, variable{list: oneOf(in.names()), array: true, lost: in.names() == nil}, inv.sc)
	case len(names) == 0:
		a.readLine([]word{known("REPLY")}, in, inv.sc)
	default:
		a.readLine(names, in, inv.sc)
	}
}

// readLine gives each name its part of a line. Of several lines each may be meant.
func (a *analysis) readLine(names []word, in stream, sc *scope) {
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
		a.assign(w.text, variable{list: []word{v}, lost: v.items == nil && !v.known && v.Taint == (value.Taint{})}, sc)
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
