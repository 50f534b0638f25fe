package python

import (
	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

var (
	pathReads = map[string]bool{"read_text": true, "read_bytes": true, "exists": true, "is_file": true, "is_dir": true, "stat": true,
		"lstat": true, "iterdir": true, "readlink": true}
	pathWrites = map[string]bool{"write_text": true, "write_bytes": true, "unlink": true, "rmdir": true, "mkdir": true, "touch": true,
		"chmod": true, "lchmod": true, "rename": true, "replace": true, "symlink_to": true, "hardlink_to": true, "link_to": true}
)

func (w *walk) pathMethod(b object.Object, name string, c *object.Call) object.Objects {
	w.note(&w.notes.calls, "pathlib.Path."+name)
	self := object.Objects{b}
	below := func() object.Objects { return object.JoinAll([]object.Objects{self, object.TextOf(object.AnyName)}) }
	for _, vs := range c.Args {
		w.escapeSome(vs)
	}
	if vs, ok := object.PathOf(b, name, c); ok {
		return vs
	}
	switch {
	case name == "iterdir":
		w.reads(self)
		return object.UnfollowedPaths(w.listed(library.Behaviour{Kind: library.DoesEntries}, self))
	case pathReads[name]:
		w.looks(self)
		if name == "read_text" || name == "read_bytes" {
			w.reads(self)
			return object.ContentOf(b)
		}
	case pathWrites[name]:
		w.changes("pathlib.Path."+name, self)
		w.pathWrite(b, name, c)
		if name == "chmod" {
			w.harm(&object.Call{Name: "pathlib.Path.chmod", Args: c.Args, Keywords: c.Keywords})
		}
	case name == "open":
		opened := &object.Call{Name: "open", Args: append([]object.Objects{self}, c.Args...), Keywords: c.Keywords, Open: c.Open}
		return w.open(opened)
	case name == "glob" || name == "rglob":
		pattern := object.JoinAll(append([]object.Objects{self}, c.Args...))
		w.reads(object.Searched(pattern))
		if name == "rglob" {
			pattern = pattern.With(object.JoinAll(append([]object.Objects{self, object.TextOf("**")}, c.Args...)))
		}
		return object.UnfollowedPaths(object.AsPaths(w.listedBelow(pattern.With(below()))))
	}
	return object.Hidden("value", b.Taint)
}

func (w *walk) pathWrite(b object.Object, name string, c *object.Call) {
	switch name {
	case "write_text", "write_bytes":
		text, _ := c.Arg(0, "data")
		w.fill(object.Objects{b}, text, value.Taint{})
	case "rename", "replace":
		w.writes(c.First())
		w.fill(c.First(), nil, value.Taint{})
	case "symlink_to", "hardlink_to", "link_to":
		w.reads(c.First())
		w.linked(c.First(), object.Objects{b})
	}
}
