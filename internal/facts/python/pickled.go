package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
)

// loadsObjects is a call that makes objects of bytes, which run what they name. Bytes that the program or its project made are the
// project's own code.
func (w *walk) loadsObjects(d library.Behaviour, c *object.Call) object.Objects {
	w.handOn(c.Name, c)
	from, _ := c.Arg(d.Skip, d.Name)
	w.reads(from)
	unless, sure := object.Truth(c.Keywords[d.Unless])
	_, given := c.Keywords[d.Unless]
	when, certain := object.Truth(c.Keywords[d.When])
	if !(given && unless && sure) && (d.When == "" || when || !certain) {
		w.runsTainted(from.Tainted())
		if d.Unless == "" || given {
			w.note(&w.notes.loads, w.notable(from, true)...)
		}
		for _, v := range from {
			// Newer versions of a loader that can be told to be safe are so by themselves.
			if own, others := w.provenance(v, strings.HasSuffix(c.Name, "loads")); others || !own && (d.Unless == "" || given) {
				w.dynamic()
			}
		}
	}
	return object.Hidden("value", c.Tainted())
}

// provenance says that the program made the bytes of a value, or that they are those of a file that the program or its project made,
// and whether they are for certain those of others. A text is the path of a file, or bytes.
func (w *walk) provenance(v object.Object, bytes bool) (own, others bool) {
	file := v.Text
	switch {
	case v.Fetched || v.Decoded:
		return false, true
	case v.Shape == object.IsInstance && strings.HasSuffix(v.Text, ".dumps"):
		return true, false
	case v.Shape == object.IsString && bytes:
		return false, false
	case v.File != "":
		file = v.File
	case v.Shape != object.IsString && v.Shape != object.IsPath && v.Shape != object.IsFile:
		return false, false
	}
	if file == "" || strings.HasPrefix(file, object.HoleStart) || strings.HasPrefix(file, object.VariableHole) {
		return false, false
	}
	p := w.path(file)
	if text, made := w.notes.contents[p]; made && !w.notes.fetched[p] && !w.notes.foreign[p] {
		spelt := text != nil && *text != "" // bytes that nothing was made of
		return !spelt, spelt
	}
	others = w.notes.fetched[p] || w.notes.foreign[p] || strings.HasPrefix(p, "..") || strings.Contains(file, "://") ||
		w.outsideProject(object.Object{Shape: object.IsString, Text: p})
	return !others, others
}

// loadsYAML is a call that makes objects of a text, which run what they name where the loader lets them.
func (w *walk) loadsYAML(d library.Behaviour, c *object.Call) object.Objects {
	w.handOn(c.Name, c)
	text, _ := c.Arg(0, "stream")
	loader, _ := c.Arg(1, "Loader")
	unsafe := d.Name == "unsafe"
	for _, l := range loader {
		switch l.Text[strings.LastIndexByte(l.Text, '.')+1:] {
		case "UnsafeLoader", "CUnsafeLoader", "Loader", "CLoader":
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
		case unsafe || v.Fetched || v.Decoded:
			isElsewhere := v.Shape == object.IsFile && w.outsideProject(object.Object{Shape: object.IsString, Text: v.Text})
			if own, _ := w.provenance(v, true); !own || isElsewhere {
				w.runsTainted(v.Taint)
				w.dynamic()
			}
		}
	}
	return object.Hidden("value", c.Tainted())
}
