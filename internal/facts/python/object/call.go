package object

import (
	"maps"
	"slices"

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
