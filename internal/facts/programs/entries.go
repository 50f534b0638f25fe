package programs

import (
	"bytes"
	"fmt"
	"io/fs"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/bailiff-dev/bailiff/internal/text/tableyaml"
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
			err = g.readShipped(text)
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

// readShipped adds the entries of a file of this program, in which no key of a grammar is unknown.
func (g grammars) readShipped(text []byte) error {
	table, ok := tableyaml.Read(text)
	if !ok {
		return g.read(text)
	}
	entries, _ := table.(map[string]any)
	for name, one := range entries {
		said, _ := one.(map[string]any)
		if grammar := said["grammar"]; grammar != nil {
			g.programs[name] = &Program{}
			if err := nodeOf(grammar).Decode(g.programs[name]); err != nil {
				return fmt.Errorf("reading the grammar of %s: %w", name, err)
			}
		}
		if delete(said, "grammar"); len(said) > 0 {
			g.judged[name] = true
		}
	}
	return nil
}

// nodeOf is a value of a table as the decoder takes it.
func nodeOf(value any) *yaml.Node {
	switch v := value.(type) {
	case map[string]any:
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for key, one := range v {
			node.Content = append(node.Content, nodeOf(key), nodeOf(one))
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, one := range v {
			node.Content = append(node.Content, nodeOf(one))
		}
		return node
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(value)} // a truth value or a number
}

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
