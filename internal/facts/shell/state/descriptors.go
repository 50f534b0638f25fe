package state

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// The descriptors that a command has without a redirection.
const Input, Output = "0", "1"

// Descriptor is where an open descriptor reads from, and the files that it writes to.
type Descriptor struct {
	In  word.Stream
	Out []string
}

// Descriptors are those that the text opens. Forks share them, so that they are replaced and
// never changed. They are few, so that a list costs less than a map.
type Descriptors []entry

// entry is a descriptor with the number that the text gives it.
type entry struct {
	number string
	Descriptor
}

// At is the descriptor of a number, if the text opened one.
func (d Descriptors) At(number string) (Descriptor, bool) {
	for i := range d {
		if d[i].number == number {
			return d[i].Descriptor, true
		}
	}
	return Descriptor{}, false
}

// With has a number stand for something else.
func (d Descriptors) With(number string, to Descriptor) Descriptors {
	fresh := make(Descriptors, 0, len(d)+1)
	return append(append(fresh, d.Without(number)...), entry{number, to})
}

// Without has numbers stand for nothing.
func (d Descriptors) Without(numbers ...string) Descriptors {
	taken := func(n entry) bool { return slices.Contains(numbers, n.number) }
	if !slices.ContainsFunc(d, taken) {
		return d
	}
	if len(d) == 1 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(d), taken)
}

// AfterCommand is d after a command whose redirections changed some numbers.
func (d Descriptors) AfterCommand(before Descriptors, numbers []string) Descriptors {
	for _, n := range numbers {
		if old, ok := before.At(n); ok {
			d = d.With(n, old)
		} else {
			d = d.Without(n)
		}
	}
	return d
}

// Input is the input of a command that no redirection and no pipe gives one.
func (s *Scope) Input(in word.Stream) word.Stream {
	if d, ok := s.Descriptors.At(Input); ok {
		return d.In
	}
	return in
}

// DescriptorNumber is the number of a descriptor that a path names, and what of the
// path is left below it.
func DescriptorNumber(p string) (number, below string, ok bool) {
	switch p {
	case "/dev/stdin":
		return Input, "", true
	case "/dev/stdout":
		return Output, "", true
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

// BelowDescriptor is a path below a descriptor that stands for a folder.
func (s *Scope) BelowDescriptor(p string) string {
	if len(s.Descriptors) == 0 {
		return p
	}
	number, below, ok := DescriptorNumber(p)
	folder, _ := s.Descriptors.At(number)
	if !ok || below == "" || folder.In.Path == "" {
		return p
	}
	return path.Join(folder.In.Path, below)
}
