package python

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// pathMember is an attribute of a pathlib.Path.
func pathMember(b object, name string) objects {
	if strings.HasSuffix(b.text, anyName) {
		switch name {
		case "path":
			return objects{b}
		case "name":
			return textOf(anyName)
		}
	}
	if !literal(b.text) {
		return hidden(name, b.Taint)
	}
	base := path.Base(b.text)
	switch name {
	case "parent":
		return objects{{shape: isPath, text: path.Dir(b.text)}}
	case "name":
		return textOf(base)
	case "suffix":
		return textOf(path.Ext(base))
	case "stem":
		return textOf(strings.TrimSuffix(base, path.Ext(base)))
	}
	return hidden(name, b.Taint)
}

var (
	pathReads = map[string]bool{"read_text": true, "read_bytes": true, "exists": true, "is_file": true, "is_dir": true, "stat": true,
		"lstat": true, "iterdir": true, "readlink": true}
	pathWrites = map[string]bool{"write_text": true, "write_bytes": true, "unlink": true, "rmdir": true, "mkdir": true, "touch": true,
		"chmod": true, "lchmod": true, "rename": true, "replace": true, "symlink_to": true, "hardlink_to": true, "link_to": true}
)

func (w *walk) pathMethod(b object, name string, c *call) objects {
	w.note(&w.notes.calls, "pathlib.Path."+name)
	self := objects{b}
	below := func() objects { return joinAll([]objects{self, textOf(anyName)}) }
	for _, vs := range c.args {
		w.escapeSome(vs)
	}
	if vs, ok := pathOf(b, name, c); ok {
		return vs
	}
	switch {
	case name == "iterdir":
		w.reads(self)
		return unfollowedPaths(w.listed(behaviour{kind: doesEntries}, self))
	case pathReads[name]:
		w.looks(self)
		if name == "read_text" || name == "read_bytes" {
			w.reads(self)
			return contentOf(b)
		}
	case pathWrites[name]:
		w.changes("pathlib.Path."+name, self)
		w.pathWrite(b, name, c)
		if name == "chmod" {
			w.harm(&call{name: "pathlib.Path.chmod", args: c.args, keywords: c.keywords})
		}
	case name == "open":
		opened := &call{name: "open", args: append([]objects{self}, c.args...), keywords: c.keywords, open: c.open}
		return w.open(opened)
	case name == "glob" || name == "rglob":
		pattern := joinAll(append([]objects{self}, c.args...))
		w.reads(searched(pattern))
		if name == "rglob" {
			pattern = pattern.with(joinAll(append([]objects{self, textOf("**")}, c.args...)))
		}
		return unfollowedPaths(asPaths(w.listedBelow(pattern.with(below()))))
	}
	return hidden("value", b.Taint)
}

// unfollowedPaths has methods of what a search found noted as those of a path, where its names are not known.
func unfollowedPaths(found objects) objects {
	for i := range found {
		if found[i].shape == isUnknown {
			found[i].Library = "pathlib.Path"
		}
	}
	return found
}

// pathOf is a path that a method makes of another one.
func pathOf(b object, name string, c *call) (objects, bool) {
	switch name {
	case "joinpath":
		joined := joinAll(append([]objects{{b}}, c.args...))
		for i := range joined {
			joined[i].shape = isPath
		}
		return joined, true
	case "expanduser", "resolve", "absolute", "as_posix", "__str__", "__fspath__":
		return objects{b}, true
	}
	return nil, false
}

func (w *walk) pathWrite(b object, name string, c *call) {
	switch name {
	case "write_text", "write_bytes":
		text, _ := c.arg(0, "data")
		w.fill(objects{b}, text, value.Taint{})
	case "rename", "replace":
		w.writes(c.first())
		w.fill(c.first(), nil, value.Taint{})
	case "symlink_to", "hardlink_to", "link_to":
		w.reads(c.first())
		w.linked(c.first(), objects{b})
	}
}
