package hook

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// Tools says by its name what each tool of a client does.
type Tools map[string]func(Call) (Meaning, error)

// Meaning is what the call does; the zero value stands for a tool that no row names.
func (t Tools) Meaning(c Call) (Meaning, error) {
	if does := t[c.Tool]; does != nil {
		return does(c)
	}
	return Meaning{}, nil
}

// Nothing is what a tool does that touches nothing of this machine, or whose own calls come here.
func Nothing(Call) (Meaning, error) { return Meaning{Kind: Harmless}, nil }

// Instead is of a tool that is refused, with what to use.
func Instead(why string) func(Call) (Meaning, error) {
	return func(Call) (Meaning, error) { return Meaning{Kind: Replaced, Why: why}, nil }
}

// Reads is of a tool that reads the file in an entry of its input.
func Reads(key string) func(Call) (Meaning, error) { return about(key, reading) }

// Writes is of one that writes it.
func Writes(key string) func(Call) (Meaning, error) { return about(key, writing) }

// Changes is of one that reads and writes it, since an edit shows what is around it.
func Changes(key string) func(Call) (Meaning, error) { return about(key, changing) }

// Lists is of one that lists a folder, the working folder if none is named.
func Lists(key string) func(Call) (Meaning, error) {
	return func(c Call) (Meaning, error) {
		folder, err := c.Input.Optional(key)
		if err != nil {
			return Meaning{}, err
		}
		paths, err := c.Paths(cmp.Or(folder, c.Cwd))
		return listing(paths...), err
	}
}

// Searches is of a tool that looks into the files of a folder for the pattern in an entry of its
// input. The folder is in another entry, or the working folder if none is named.
func Searches(key, folder string) func(Call) (Meaning, error) {
	return throughout(key, folder, searching)
}

// SearchesFiles is [Searches] of a tool that looks into those files alone whose names match patterns in further entries.
func SearchesFiles(key, folder string, names ...string) func(Call) (Meaning, error) {
	return func(c Call) (Meaning, error) {
		m, err := Searches(key, folder)(c)
		for _, name := range names {
			pattern, wrong := c.Input.Optional(name)
			if strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~") {
				wrong = fmt.Errorf("%q: write the pattern without / or ~ at its beginning", pattern)
			}
			err = errors.Join(err, wrong, CheckPattern(pattern))
		}
		return m, err
	}
}

// Finds is of one that looks for files by the pattern, which may begin with a folder of its own.
func Finds(key, folder string) func(Call) (Meaning, error) {
	return func(c Call) (Meaning, error) {
		pattern, err := c.Input.Text(key)
		if strings.HasPrefix(pattern, "~") || strings.TrimSpace(pattern) != pattern {
			return Meaning{}, fmt.Errorf("%q: write the pattern without a home folder (~) or blanks around it", pattern)
		}
		if err := CheckPattern(pattern); err != nil {
			return Meaning{}, err
		}
		if err != nil || !strings.HasPrefix(pattern, "/") {
			m, wrong := throughout(key, folder, finding)(c)
			return m, errors.Join(err, wrong)
		}
		paths, err := c.Paths(path.Dir(pattern[:strings.IndexAny(pattern+"*", "*?[{")] + "x"))
		return finding(pattern, paths...), err
	}
}

// CheckPattern refuses a pattern of names by which a client may leave the folder in which it looks: an alternative of it steps
// back, or begins anew.
func CheckPattern(pattern string) error {
	parts := strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune("/{},", r) })
	if slices.Contains(parts, "..") {
		return fmt.Errorf("%q: write the pattern without a step back (..) in it", pattern)
	}
	for _, begins := range []string{"{/", ",/", "{~", ",~"} {
		if strings.Contains(pattern, begins) {
			return fmt.Errorf("%q: write the pattern without an alternative that begins at / or ~", pattern)
		}
	}
	return nil
}

// Patches is of a tool that applies the patch in an entry of its input, in the format
// "*** Begin Patch".
func Patches(key string) func(Call) (Meaning, error) {
	return func(c Call) (Meaning, error) {
		patch, err := c.Input.Text(key)
		if err != nil {
			return Meaning{}, err
		}
		return c.patching(patch)
	}
}

// about is of a tool that acts on the file in an entry of its input.
func about(key string, act func(paths ...string) Meaning) func(Call) (Meaning, error) {
	return func(c Call) (Meaning, error) {
		path, err := c.Input.Text(key)
		if err != nil {
			return Meaning{}, err
		}
		paths, err := c.Paths(path)
		m := act(paths...)
		m.Linked = len(paths) > 1
		return m, err
	}
}

func throughout(key, in string, act func(pattern string, paths ...string) Meaning) func(Call) (Meaning, error) {
	return func(c Call) (Meaning, error) {
		pattern, err := c.Input.Text(key)
		if err != nil {
			return Meaning{}, err
		}
		folder, err := c.Input.Optional(in)
		if err != nil {
			return Meaning{}, err
		}
		paths, err := c.Paths(cmp.Or(folder, c.Cwd))
		return act(pattern, paths...), err
	}
}

// onHost is what a tool does on this machine, said by a command that does the same.
func onHost(line ...string) Meaning {
	return Meaning{Kind: Hostly, Command: shellquote.Join(line...)}
}

// onFiles is what a tool does to files of this machine.
func onFiles(paths []string, writes bool, line ...string) Meaning {
	m := onHost(line...)
	m.Files, m.Writes = paths, writes
	return m
}

func reading(paths ...string) Meaning {
	return onFiles(paths, false, append([]string{"cat", "--"}, paths...)...)
}

func writing(paths ...string) Meaning {
	return onFiles(paths, true, append([]string{"tee", "--"}, paths...)...)
}

func removing(paths ...string) Meaning {
	return onFiles(paths, true, append([]string{"rm", "--"}, paths...)...)
}

func changing(paths ...string) Meaning { return reading(paths...).and(writing(paths...)) }

func listing(paths ...string) Meaning {
	return onFiles(paths, false, append([]string{"ls", "--"}, paths...)...)
}

func searching(pattern string, paths ...string) Meaning {
	return onFiles(paths, false, append([]string{"grep", "-r", "-e", pattern, "--"}, paths...)...)
}

func finding(pattern string, paths ...string) Meaning {
	return onFiles(paths, false, append(append([]string{"find"}, paths...), "-path", pattern)...)
}

// and is what two meanings do to files, the one after the other.
func (m Meaning) and(n Meaning) Meaning {
	return Meaning{Kind: Hostly, Command: m.Command + " && " + n.Command, Files: slices.Concat(m.Files, n.Files),
		Writes: m.Writes || n.Writes, Linked: m.Linked || n.Linked}
}
