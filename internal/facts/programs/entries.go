package programs

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/bailiff-dev/bailiff/policies"
)

// entry is what a file of programs says of a name: how its arguments are read, and what it means to the policies.
type entry struct {
	Grammar *Program
	Meaning map[string]yaml.Node `yaml:",inline"`
}

// shipped are the entries of the files. A fault in the files is one of this program.
var shipped = sync.OnceValue(load)

func load() *grammars {
	files, err := fs.Glob(policies.FS, "bailiff/programs/*/data.yaml")
	if err != nil {
		panic(err)
	}
	g := &grammars{texts: map[string]string{}}
	for _, name := range files {
		text, err := policies.FS.ReadFile(name)
		if err == nil {
			err = g.add(string(text))
		}
		if err != nil {
			panic(fmt.Errorf("reading %s: %w", name, err))
		}
	}
	return g
}

// grammars are entries by their names, each read when it is first asked for: a command names few of a thousand.
type grammars struct {
	texts map[string]string
	known sync.Map // of *known
}

// known is what an entry says: the grammar, nil if there is none, and whether the policies judge the name.
type known struct {
	program *Program
	judged  bool
}

// add takes a file apart. An entry begins with its name at the beginning of a line.
func (g *grammars) add(text string) error {
	name, begun, at := "", 0, 0
	text += "\nend:\n"
	for line := range strings.Lines(text) {
		if strings.IndexByte(" #\n", line[0]) < 0 {
			if g.texts[name] != "" {
				return fmt.Errorf("%s has two entries", name)
			}
			if name != "" {
				g.texts[name] = text[begun:at]
			}
			name, begun = nameIn(line), at
		}
		at += len(line)
	}
	return nil
}

// nameIn is the key that a line of YAML begins with.
func nameIn(line string) string {
	if line[0] == '\'' {
		name, _, _ := strings.Cut(line[1:], "'")
		return name
	}
	name, _, _ := strings.Cut(line, ":")
	return name
}

// of is what the entry of a name says; the zero value where there is none.
func (g *grammars) of(name string) known {
	if k, ok := g.known.Load(name); ok {
		return *k.(*known)
	}
	if g.texts[name] == "" {
		return known{}
	}
	k, err := g.read(name)
	if err != nil {
		panic(err)
	}
	same, _ := g.known.LoadOrStore(name, k)
	return *same.(*known)
}

// read is what the text of an entry says.
func (g *grammars) read(name string) (*known, error) {
	d := yaml.NewDecoder(strings.NewReader(g.texts[name]))
	d.KnownFields(true)
	entries := map[string]entry{}
	err := d.Decode(&entries)
	e := entries[name]
	if err == nil && e.Grammar != nil && e.Grammar.Like != "" {
		err = e.Grammar.resemble(g.of(e.Grammar.Like).program)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the entry of %s: %w", name, err)
	}
	return &known{e.Grammar, len(e.Meaning) > 0}, nil
}

func of(name string) *Program { return shipped().of(name).program }

func judged(name string) bool { return shipped().of(name).judged }

// resemble gives a program that is like another one the grammar of that.
func (p *Program) resemble(other *Program) error {
	if !other.isDescribed() || p.isDescribed() {
		return fmt.Errorf("the program is like %s, which must be described, and the program itself not", p.Like)
	}
	p.Operands, p.Options, p.Flags = other.Operands, other.Options, other.Flags
	p.Long, p.Strict, p.Plus = other.Long, other.Strict, other.Plus
	if p.ProgramIn == nil && p.Runs == nil {
		p.ProgramIn = other.ProgramIn
	}
	if p.Input == "" && p.Texts == nil {
		p.Input, p.When, p.Texts, p.Plain = other.Input, other.When, other.Texts, other.Plain
		p.Escapes, p.Reading, p.Writing, p.Running = other.Escapes, other.Reading, other.Writing, other.Running
	}
	return nil
}
