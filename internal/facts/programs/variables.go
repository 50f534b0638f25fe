package programs

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Variable says what programs do with the value of a variable. The zero value is that of a variable
// without an entry in variables.yaml.
type Variable struct {
	Holds Held
	// Program takes the options or commands that it holds, or reads the files that it names.
	Program string
	// Family says that it is known by the end of its name alone.
	Family bool
}

// Held is what the value of a variable is.
type Held string

// The kinds of values; variables.yaml explains them.
const (
	HeldCommand  Held = "command"
	HeldScript   Held = "script"
	HeldProgram  Held = "program"
	HeldPrompt   Held = "prompt"
	HeldCommands Held = "commands"
	HeldOptions  Held = "options"
	HeldFiles    Held = "files"
)

// UnmarshalYAML reads a kind, and the program where there is one.
func (v *Variable) UnmarshalYAML(n *yaml.Node) error {
	words := strings.Fields(n.Value)
	if len(words) == 0 || len(words) > 2 {
		return fmt.Errorf("line %d: %q is not a kind of value and a program", n.Line, n.Value)
	}
	v.Holds = Held(words[0])
	named := v.Holds == HeldCommands || v.Holds == HeldOptions || v.Holds == HeldFiles
	kinds := []Held{HeldCommand, HeldScript, HeldProgram, HeldPrompt, HeldCommands, HeldOptions, HeldFiles}
	if !slices.Contains(kinds, v.Holds) || named != (len(words) == 2) {
		return fmt.Errorf("line %d: %q is not a kind of value and a program", n.Line, n.Value)
	}
	if named {
		v.Program = words[1]
	}
	return nil
}

// VariableOf finds a variable by its name, or by the end of its name.
func VariableOf(name string) Variable {
	known := variables()
	if v, ok := known[name]; ok {
		return v
	}
	if i := strings.LastIndexByte(name, '_'); i > 0 {
		v := known[name[i:]]
		v.Family = true
		return v
	}
	return Variable{}
}

//go:embed variables.yaml
var variablesText []byte

// variables are known by their names. A fault in the file is one of this package.
var variables = sync.OnceValue(func() map[string]Variable {
	known, err := readVariables(variablesText)
	if err != nil {
		panic(err)
	}
	return known
})

func readVariables(text []byte) (map[string]Variable, error) {
	known := map[string]Variable{}
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&known); err != nil {
		return nil, fmt.Errorf("reading the grammar of variables: %w", err)
	}
	for name, v := range known {
		if v.Holds == "" {
			return nil, fmt.Errorf("reading the grammar of variables: %s holds nothing", name)
		}
	}
	return known, nil
}
