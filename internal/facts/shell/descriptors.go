package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

const input, output = "0", "1"

// descriptor is where an open descriptor reads from, and the files that it writes to.
type descriptor struct {
	in  stream
	out []string
}

// descriptors are those that the text opens. Forks share them, so that they are replaced and
// never changed. They are few, so that a list costs less than a map.
type descriptors []numbered

// numbered is a descriptor with the number that the text gives it.
type numbered struct {
	number string
	descriptor
}

// at is the descriptor of a number, if the text opened one.
func (d descriptors) at(number string) (descriptor, bool) {
	for i := range d {
		if d[i].number == number {
			return d[i].descriptor, true
		}
	}
	return descriptor{}, false
}

// with has a number stand for something else.
func (d descriptors) with(number string, to descriptor) descriptors {
	fresh := make(descriptors, 0, len(d)+1)
	return append(append(fresh, d.without(number)...), numbered{number, to})
}

// without has numbers stand for nothing.
func (d descriptors) without(numbers ...string) descriptors {
	taken := func(n numbered) bool { return slices.Contains(numbers, n.number) }
	if !slices.ContainsFunc(d, taken) {
		return d
	}
	if len(d) == 1 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(d), taken)
}

// restored is d after a command whose redirections changed some numbers.
func (d descriptors) restored(before descriptors, numbers []string) descriptors {
	for _, n := range numbers {
		if old, ok := before.at(n); ok {
			d = d.with(n, old)
		} else {
			d = d.without(n)
		}
	}
	return d
}

// numberOf is the descriptor that a redirection changes. For "{name}" the shell takes
// the first free one from ten on, and puts its number into the variable.
func (a *analysis) numberOf(d *syntax.Redirect, usual string, sc *scope) string {
	if d.N == nil {
		return usual
	}
	name, named := strings.CutPrefix(d.N.Value, "{")
	if !named {
		return d.N.Value
	}
	free := 10
	number := strconv.Itoa(free)
	for _, taken := sc.open.at(number); taken; _, taken = sc.open.at(number) {
		free++
		number = strconv.Itoa(free)
	}
	a.assign(strings.TrimSuffix(name, "}"), variable{list: []word{known(number)}}, sc)
	return number
}

// usual is the descriptor of a redirection that names none.
func usual(reads bool) string {
	if reads {
		return input
	}
	return output
}

// opens notes what a redirection makes of a descriptor other than input and output.
func (b *budget) opens(r *redirections, number string, to descriptor, sc *scope) {
	if len(sc.open) >= maxVariables {
		b.hide()
		return
	}
	r.numbers = append(r.numbers, number)
	sc.open = sc.open.with(number, to)
}

// feeds has a descriptor read from a stream.
func (a *analysis) feeds(r *redirections, number string, s stream, sc *scope) {
	if number == input {
		r.in = s
		return
	}
	a.opens(r, number, descriptor{in: s}, sc)
}

// inherited is the input of a command that no redirection and no pipe gives one.
func (s *scope) inherited(in stream) stream {
	if d, ok := s.open.at(input); ok {
		return d.in
	}
	return in
}

// stays keeps what the redirections of "exec" opened for the commands after it.
func (s *scope) stays(files redirections) {
	if files.in.present {
		s.open = s.open.with(input, descriptor{in: files.in})
	}
	if files.takesOutput {
		s.open = s.open.with(output, descriptor{out: files.out})
	}
}

// descriptorNumber is the number of a descriptor that a path names, and what of the
// path is left below it.
func descriptorNumber(p string) (number, below string, ok bool) {
	switch p {
	case "/dev/stdin":
		return input, "", true
	case "/dev/stdout":
		return output, "", true
	}
	rest, ok := strings.CutPrefix(p, "/dev/fd/")
	if !ok {
		if rest, ok = strings.CutPrefix(p, "/proc/"); !ok {
			return "", "", false
		}
		if _, rest, ok = strings.Cut(rest, "/fd/"); !ok {
			return "", "", false
		}
	}
	number, below, _ = strings.Cut(rest, "/")
	return number, below, number != ""
}

// hands is what a word hands over as a file without a place of its own: a process
// substitution, the standard input of the command, or a descriptor.
func (fs *overlay) hands(w word, in stream, sc *scope) (stream, bool) {
	if w.source != nil {
		return *w.source, true
	}
	if w.text == "-" {
		return in, in.present
	}
	number, below, ok := fs.descriptorOf(w, sc)
	switch {
	case !ok || below != "":
		return stream{}, false
	case number == input && in.present:
		return in, true
	}
	if d, open := sc.open.at(number); open && d.in.present {
		return d.in, true
	}
	return unknown(value.Taint{}), number != input
}

// descriptorOf is the descriptor that a word names, by the links that the text makes too.
func (fs *overlay) descriptorOf(w word, sc *scope) (number, below string, ok bool) {
	if strings.HasPrefix(w.text, "/") || strings.HasPrefix(sc.cwd, "/") {
		if number, below, ok = descriptorNumber(fs.at.Path(w.text, sc.cwd)); ok {
			return number, below, true
		}
	}
	if len(fs.links) == 0 {
		return "", "", false
	}
	for _, p := range fs.behindLinks(fs.path(w, sc), true) {
		if number, below, ok = descriptorNumber(p); ok {
			return number, below, true
		}
	}
	return "", "", false
}

// holds is the content of a file that a word names from a folder, if the text made the file or
// hands it over, or if it was found.
func (fs *overlay) holds(w word, in stream, sc, folder *scope) (stream, bool) {
	if s, ok := fs.hands(w, in, sc); ok {
		return s, true
	}
	if fs.at.Contents == nil {
		s, ok := fs.contents[fs.path(w, folder)]
		return s, ok
	}
	return fs.runnable(fs.path(w, folder), fs.fileAt(w, folder))
}

// isInput says whether a word names the standard input of the command.
func (fs *overlay) isInput(w word, sc *scope) bool {
	if w.text == "-" {
		return true
	}
	number, below, ok := descriptorNumber(fs.at.Path(w.text, sc.cwd))
	return ok && number == input && below == "" && w.source == nil
}

// behind is a path below a descriptor that stands for a folder.
func (s *scope) behind(p string) string {
	if len(s.open) == 0 {
		return p
	}
	number, below, ok := descriptorNumber(p)
	folder, _ := s.open.at(number)
	if !ok || below == "" || folder.in.path == "" {
		return p
	}
	return path.Join(folder.in.path, below)
}

// shadows are the descriptors that a compound command's redirections take the place of.
func (r *redirections) shadows() []string {
	var numbers []string
	if r.in.present {
		numbers = append(numbers, input)
	}
	if r.takesOutput {
		numbers = append(numbers, output)
	}
	return numbers
}
