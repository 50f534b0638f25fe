package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
)

// loadsObjects is a call that makes objects of bytes, which run what they name. Bytes that the program or its project made are the
// project's own code.
func (w *walk) loadsObjects(d library.Behaviour, c *object.Call) object.Objects {
	w.handOn(c)
	from, _ := c.Arg(d.Skip, d.Name)
	w.reads(from)
	unless, sure := object.Truth(c.Keywords[d.Unless])
	_, given := c.Keywords[d.Unless]
	when, certain := object.Truth(c.Keywords[d.When])
	switch {
	case d.Unless != "" && (!given || unless && sure), d.When != "" && certain && !when:
	default:
		w.unpickle(from, strings.HasSuffix(c.Name, "loads"))
	}
	return object.Hidden("value", c.Tainted())
}

func (w *walk) unpickle(from object.Objects, bytes bool) {
	w.runsTainted(from.Tainted())
	for _, v := range from {
		if !w.ownBytes(v, bytes) {
			w.dynamic()
		}
	}
}

// ownBytes says that the program made the bytes of a value, or that they are those of a file that the program or its project
// made. A text is the path of a file, or bytes.
func (w *walk) ownBytes(v object.Object, bytes bool) bool {
	if v.Fetched || v.Decoded {
		return false
	}
	if v.Shape == object.IsInstance && strings.HasSuffix(v.Text, ".dumps") {
		return true
	}
	file := v
	switch {
	case v.Shape == object.IsString && bytes:
		return false
	case v.File != "":
		file = object.Object{Shape: object.IsString, Text: v.File}
	case v.Shape != object.IsString && v.Shape != object.IsPath && v.Shape != object.IsFile:
		return false
	}
	file.Shape = object.IsString
	p := w.path(file.Text)
	if _, made := w.notes.contents[p]; made && !w.notes.fetched[p] {
		return true
	}
	return !w.notes.fetched[p] && file.Text != "" && !strings.HasPrefix(file.Text, object.HoleStart) &&
		!strings.HasPrefix(file.Text, object.VariableHole) && !strings.HasPrefix(p, "..") && !strings.Contains(p, "://") &&
		!w.outsideProject(file)
}

// loadsYAML is a call that makes objects of a text, which run what they name where the loader lets them.
func (w *walk) loadsYAML(d library.Behaviour, c *object.Call) object.Objects {
	w.handOn(c)
	text, _ := c.Arg(0, "stream")
	loader, _ := c.Arg(1, "Loader")
	unsafe := d.Name == "unsafe"
	for _, l := range loader {
		switch l.Text[strings.LastIndexByte(l.Text, '.')+1:] {
		case "UnsafeLoader", "CUnsafeLoader":
			unsafe = true
		case "SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader":
			return object.Hidden("value", c.Tainted())
		}
	}
	for _, v := range text {
		switch {
		case v.Shape == object.IsString && object.Literal(v.Text):
			if strings.Contains(v.Text, "!!python/") || strings.Contains(v.Text, "tag:yaml.org,2002:python/") {
				w.dynamic()
			}
		case unsafe && !w.ownBytes(v, true), v.Fetched, v.Decoded:
			w.runsTainted(v.Taint)
			w.dynamic()
		}
	}
	return object.Hidden("value", c.Tainted())
}
