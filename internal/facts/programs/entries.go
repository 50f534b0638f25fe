package programs

import (
	"bytes"
	"fmt"
	"io/fs"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/bailiff-dev/bailiff/policies"
)

// entry is what a file of programs says of a name: how its arguments are read, and what it means to the policies.
type entry struct {
	Grammar *Program
	Meaning map[string]yaml.Node `yaml:",inline"`
}

// shipped are the grammars of the entries, and the names that the policies judge. A fault in the files is one of this program.
var shipped = sync.OnceValue(load)

func load() grammars {
	g := grammars{map[string]*Program{}, map[string]bool{}}
	files, err := fs.Glob(policies.FS, "bailiff/programs/*/data.yaml")
	if err != nil {
		panic(err)
	}
	for _, name := range files {
		text, err := policies.FS.ReadFile(name)
		if err == nil {
			err = g.read(text)
		}
		if err != nil {
			panic(fmt.Errorf("reading %s: %w", name, err))
		}
	}
	if err := g.compare(); err != nil {
		panic(err)
	}
	return g
}

type grammars struct {
	programs map[string]*Program
	judged   map[string]bool
}

func all() map[string]*Program { return shipped().programs }

func judged() map[string]bool { return shipped().judged }

// read adds the entries of a file.
func (g grammars) read(text []byte) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	entries := map[string]entry{}
	if err := d.Decode(&entries); err != nil {
		return fmt.Errorf("reading the grammar of programs: %w", err)
	}
	for name, e := range entries {
		if e.Grammar != nil {
			g.programs[name] = e.Grammar
		}
		if len(e.Meaning) > 0 {
			g.judged[name] = true
		}
	}
	return nil
}

// compare gives the programs that are like others the grammar of those.
func (g grammars) compare() error {
	for name, p := range g.programs {
		if p.Like == "" {
			continue
		}
		other := g.programs[p.Like]
		if !other.isDescribed() || p.isDescribed() {
			return fmt.Errorf("reading the grammar of programs: %s is like %s, which must be described, and %[1]s not", name, p.Like)
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
	}
	return nil
}
