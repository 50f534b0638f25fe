package shell

import (
	"path"
	"slices"
	"strings"
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

// inherited is the input of a command that no redirection and no pipe gives one.
func (s *scope) inherited(in stream) stream {
	if d, ok := s.open.at(input); ok {
		return d.in
	}
	return in
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
