package programs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Words are separated by spaces in the file.
type Words []string

// UnmarshalYAML splits the words.
func (w *Words) UnmarshalYAML(n *yaml.Node) error {
	*w = strings.Fields(n.Value)
	return nil
}

// Options are those that take a value, and what it names.
type Options map[string]Value

var values = []Value{FileWritten, FileRead, FileOfNames, Data, URL, HostName}

// UnmarshalYAML reads options such as "-t=writes --suffix".
func (o *Options) UnmarshalYAML(n *yaml.Node) error {
	*o = Options{}
	for _, w := range strings.Fields(n.Value) {
		name, what, given := strings.Cut(w, "=")
		if _, twice := (*o)[name]; twice || given && !slices.Contains(values, Value(what)) {
			return fmt.Errorf("line %d: the option %s is given twice, or names nothing known", n.Line, w)
		}
		(*o)[name] = Value(what)
	}
	return nil
}

// Subcommands are those that start what follows, with the number of words between.
type Subcommands map[string]int

// UnmarshalYAML reads subcommands such as "run exec=1".
func (s *Subcommands) UnmarshalYAML(n *yaml.Node) error {
	*s = Subcommands{}
	for _, w := range strings.Fields(n.Value) {
		name, between, given := strings.Cut(w, "=")
		if !given {
			between = "0"
		}
		count, err := strconv.Atoi(between)
		if err != nil {
			return fmt.Errorf("line %d: reading the subcommand %s: %w", n.Line, w, err)
		}
		(*s)[name] = count
	}
	return nil
}

// UnmarshalYAML takes a kind of operands.
func (o *Operands) UnmarshalYAML(n *yaml.Node) error {
	return kind(o, n, None, Reads, Writes, Copies, Moves, Script, Mode, URLs, Host, Hosts, Remote, Archive, Text, First)
}

// UnmarshalYAML takes a place of the program that is started.
func (w *Wraps) UnmarshalYAML(n *yaml.Node) error {
	return kind(w, n, Command, AfterOperand, Rest, AllWords, Launched, ShellTexts)
}

// UnmarshalYAML takes an operand before the command.
func (s *Skips) UnmarshalYAML(n *yaml.Node) error { return kind(s, n, Operand, Name) }

// UnmarshalYAML takes a kind of output.
func (o *Output) UnmarshalYAML(n *yaml.Node) error {
	return kind(o, n, FromNetwork, Decoded, Report, Silent, Listed, Named, Matching, Sought, Selected)
}

// UnmarshalYAML takes a kind of input.
func (i *Input) UnmarshalYAML(n *yaml.Node) error {
	return kind(i, n, Commands, ItsProgram, NamesToRead, Patch)
}

// Escapes finds words in a program's own language: the first group.
type Escapes struct{ *regexp.Regexp }

// UnmarshalYAML reads a regular expression with one group.
func (e *Escapes) UnmarshalYAML(n *yaml.Node) (err error) {
	if e.Regexp, err = regexp.Compile(n.Value); err != nil || e.NumSubexp() != 1 {
		return fmt.Errorf("line %d: reading the expression %q, which has one group: %w", n.Line, n.Value, err)
	}
	return nil
}

// Lines matches a text by each of its lines.
type Lines struct{ *regexp.Regexp }

// UnmarshalYAML reads a regular expression, or several of which each matches some lines.
func (l *Lines) UnmarshalYAML(n *yaml.Node) error {
	expressions := []string{n.Value}
	if n.Kind == yaml.SequenceNode {
		if err := n.Decode(&expressions); err != nil {
			return err
		}
	}
	all := "^(?:" + strings.Join(expressions, "|") + ")$"
	var err error
	if l.Regexp, err = regexp.Compile(all); err != nil {
		return fmt.Errorf("line %d: reading the expression %q: %w", n.Line, all, err)
	}
	return nil
}

// All says that the expression, if there is one, matches every line of a text.
func (l Lines) All(text string) bool {
	if l.Regexp == nil {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if !l.MatchString(strings.TrimSuffix(line, "\r")) {
			return false
		}
	}
	return true
}

// UnmarshalYAML takes a way of filling files.
func (f *Fills) UnmarshalYAML(n *yaml.Node) error {
	return kind(f, n, Copied, Unpacked, FromInput, Parts, Expanded, Compiled)
}

// UnmarshalYAML takes which operands lose their content.
func (l *Loses) UnmarshalYAML(n *yaml.Node) error {
	return kind(l, n, All, Sources, UnlessAppending, OntoDevice)
}

func kind[K ~string](to *K, n *yaml.Node, known ...K) error {
	if *to = K(n.Value); !slices.Contains(known, *to) {
		return fmt.Errorf("line %d: %q is none of %v", n.Line, n.Value, known)
	}
	return nil
}
