package value

import "slices"

// And is what two texts do one after the other.
func (c Command) And(o Command) Command {
	c.Parsed, c.Complete = c.Parsed && o.Parsed, c.Complete && o.Complete
	if len(c.Calls)+len(o.Calls) > MaxCalls {
		c.Complete = false
	} else {
		c.Calls = append(c.Calls, o.Calls...)
	}
	c.Programs = Sorted(slices.Concat(c.Programs, o.Programs))
	c.Hosts = Sorted(slices.Concat(c.Hosts, o.Hosts))
	c.Reads = Sorted(slices.Concat(c.Reads, o.Reads))
	c.Writes = Sorted(slices.Concat(c.Writes, o.Writes))
	c.Variables = Sorted(slices.Concat(c.Variables, o.Variables))
	c.Features = Sorted(slices.Concat(c.Features, o.Features))
	c.Assigns = Sorted(slices.Concat(c.Assigns, o.Assigns))
	c.Settings = Sorted(slices.Concat(c.Settings, o.Settings))
	c.Loses = Sorted(slices.Concat(c.Loses, o.Loses))
	c.Files = Sorted(slices.Concat(c.Files, o.Files))
	c.Made = Sorted(slices.Concat(c.Made, o.Made))
	c.Sources = Sorted(slices.Concat(c.Sources, o.Sources))
	c.Opens = Sorted(slices.Concat(c.Opens, o.Opens))
	c.Modules = Sorted(slices.Concat(c.Modules, o.Modules))
	c.Origins = append(slices.Clip(c.Origins), o.Origins...)
	switch {
	case c.Supposed == nil:
		c.Supposed = o.Supposed
	case o.Supposed != nil:
		both := c.Supposed.And(*o.Supposed)
		both.Text, both.Complete = c.Supposed.Text+"\n"+o.Supposed.Text, true
		c.Supposed = &both
	}
	return c
}
