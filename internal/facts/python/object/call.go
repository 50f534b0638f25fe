package object

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Call is what a call is given.
type Call struct {
	Name     string
	Args     []Objects
	Keywords map[string]Objects
	// Open says that there may be more arguments.
	Open bool
	// Self says that a method hands on its own object, or class.
	Self bool
}

// Give gives a keyword values.
func (c *Call) Give(name string, vs Objects) {
	if c.Keywords == nil {
		c.Keywords = map[string]Objects{}
	}
	c.Keywords[name] = vs
}

// All are all arguments.
func (c *Call) All() []Objects {
	return slices.AppendSeq(slices.Clone(c.Args), maps.Values(c.Keywords))
}

// Arg is the argument at a place or under a name.
func (c *Call) Arg(i int, name string) (Objects, bool) {
	if vs, ok := c.Keywords[name]; ok && name != "" {
		return vs, true
	}
	if i >= 0 && i < len(c.Args) {
		return c.Args[i], true
	}
	if c.Open {
		return Hidden("value", value.Taint{}), true
	}
	return nil, false
}

// First is the argument that a call is about.
func (c *Call) First() Objects {
	if len(c.Args) > 0 {
		return c.Args[0]
	}
	return nil
}

// Named are the arguments by keywords, in an order that is the same in each walk.
func (c *Call) Named() iter.Seq2[string, Objects] {
	return func(yield func(string, Objects) bool) {
		if len(c.Keywords) == 0 {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(c.Keywords)) {
			if !yield(name, c.Keywords[name]) {
				return
			}
		}
	}
}

// Tainted is the taint of all arguments.
func (c *Call) Tainted() value.Taint {
	var all value.Taint
	for _, vs := range c.Args {
		all = all.With(vs.Tainted())
	}
	for _, vs := range c.Keywords {
		all = all.With(vs.Tainted())
	}
	return all
}

// Spread adds the items of a list as arguments.
func (c *Call) Spread(vs Objects) {
	if len(vs) == 1 && vs[0].Shape == IsList && !vs[0].Open {
		c.Args = append(c.Args, vs[0].Items...)
		return
	}
	c.Args = append(c.Args, Elements(vs, "value"))
	c.Open = true
}

// Options are the keywords of a call as libraries hand them to programs: options, with their values unless these say yes. The one
// called operand is an operand; those with an underscore first are for the library.
func (c *Call) Options(operand string) (words []Objects) {
	for _, name := range slices.Sorted(maps.Keys(c.Keywords)) {
		vs := c.Keywords[name]
		yes, sure := Truth(vs)
		option := "--" + strings.ReplaceAll(name, "_", "-")
		if len(name) == 1 {
			option = "-" + name
		}
		switch text, told := vs.Only(); {
		case strings.HasPrefix(name, "_"), sure && !yes:
		case name == operand:
			words = append(words, vs)
		case told:
			words = append(words, TextOf(option+"="+text))
		default:
			words = append(words, TextOf(option))
		}
	}
	if c.Open {
		words = append(words, Hidden("value", value.Taint{}))
	}
	return words
}
