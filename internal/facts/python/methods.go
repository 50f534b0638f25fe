package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
)

// method is a call of a method of a value.
func (w *walk) method(b object.Object, callee *syntax.Expression, c *object.Call) object.Objects {
	name := callee.Text
	if full, ok := library.ThroughValue(callee); ok {
		return w.callSymbol(full, c).With(object.Hidden("value", b.AllTaint()))
	}
	w.libraryMethod(b, callee, c)
	if b.Shape == object.IsInstance && !strings.HasPrefix(b.Text, ".") {
		c.Name = b.Text + "." + name
		w.objectMethod(b, name, c)
	}
	if vs, ok := w.knownMethod(b, name, c); ok {
		return vs
	}
	switch b.Shape {
	case object.IsString:
		if vs, ok := w.textMethod(b, name, c); ok {
			return vs
		}
	case object.IsPath:
		return w.pathMethod(b, name, c)
	case object.IsFile:
		return w.fileMethod(b, name, c)
	case object.IsDict:
		if vs, ok := w.dictMethod(b, name, c); ok {
			return vs
		}
	case object.IsList:
		if name == "pop" || name == "copy" || name == "__iter__" || name == "__next__" {
			return w.listMethod(b, name)
		}
	}
	return w.ownMethod(b, callee, c)
}

// knownMethod is a method that the table of calls knows, by the class of its object or, as
// "*.name", of any object.
func (w *walk) knownMethod(b object.Object, name string, c *object.Call) (object.Objects, bool) {
	if b.Shape != object.IsInstance && b.Shape != object.IsUnknown && b.Shape != object.IsFile || strings.HasPrefix(b.Text, ".") {
		return nil, false
	}
	if b.Shape == object.IsInstance {
		if d, ok := library.Behaviours()[b.Text+"."+name]; ok {
			c.Name = b.Text + "." + name
			w.note(&w.notes.calls, c.Name)
			return w.do(d, c), true
		}
	}
	if d, ok := library.Behaviours()["*."+name]; ok && len(w.methods[name]) == 0 {
		w.note(&w.notes.calls, name)
		w.do(d, &object.Call{Name: name, Args: c.Args, Keywords: c.Keywords, Open: c.Open})
	}
	return nil, false
}

func (w *walk) listMethod(b object.Object, name string) object.Objects {
	if name == "pop" || name == "__next__" {
		return object.Elements(object.Objects{b}, "value")
	}
	b.Made = nil
	return object.Objects{b}
}

func (w *walk) dictMethod(b object.Object, name string, c *object.Call) (object.Objects, bool) {
	list := object.Object{Shape: object.IsList, Open: true, Taint: b.Taint}
	switch name {
	case "get", "pop", "setdefault":
		return object.DictItem(b, c.First()).With(w.optional(c, 1)), true
	case "copy":
		b.Made = nil
		return object.Objects{b}, true
	case "values":
		for i := 1; i < len(b.Items); i += 2 {
			list.Items = append(list.Items, b.Items[i])
		}
	case "items":
		for i := 0; i+1 < len(b.Items); i += 2 {
			list.Items = append(list.Items, object.Objects{{Shape: object.IsList, Items: b.Items[i : i+2]}})
		}
	default:
		return nil, false
	}
	list.Open = b.Open
	return w.bounded(object.Objects{list}), true
}

func (w *walk) optional(c *object.Call, i int) object.Objects {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return nil
}

// ownMethod is a call of a method that the program defines, or of an unknown one.
func (w *walk) ownMethod(b object.Object, callee *syntax.Expression, c *object.Call) object.Objects {
	var out object.Objects
	own := false
	for _, m := range w.methods[callee.Text] {
		own = true
		given := w.apply(m, c)
		if m.Define.Decorated {
			// A property's value is what is called.
			w.escape(given)
		}
		out = out.With(given)
	}
	for _, v := range w.attributes[callee.Text] {
		if v.Shape == object.IsCallable && v.Function.Method {
			continue
		}
		out = out.With(w.callValue(v, c))
	}
	if own && (b.Shape == object.IsInstance && strings.HasPrefix(b.Text, ".") || callee.Kids[0].Form == syntax.NameForm &&
		callee.Kids[0].Text == "self") {
		return out
	}
	w.escapeAll(c)
	w.supposeMethod(b, callee.Text, c, own)
	changes := b.Changeable() && object.ByMethod(b.Shape, callee.Text, c.Args).Kind != object.Unknown
	if !own && !changes && !library.LookingMethods[callee.Text] {
		w.handOn("", c)
	}
	if callee.Text == "__setattr__" {
		w.attributesChange()
	}
	for _, item := range b.Items {
		w.escapeSome(item)
	}
	return out.With(object.Hidden("value", b.AllTaint().With(c.Tainted())))
}

// mutate makes the change that a method makes of a thing.
func (w *walk) mutate(base object.Objects, name string, c *object.Call) {
	if library.Lookers[name] || !slices.ContainsFunc(base, object.Object.Changeable) {
		return
	}
	w.change(base, func(shape object.Shape) object.Change {
		switch {
		case c.Open:
			return object.Change{}
		case shape == object.IsDict && name == "update" && len(c.Keywords) > 0:
			return object.Change{Kind: object.Put, Values: w.makeDict(c), Each: true}
		}
		return object.ByMethod(shape, name, c.Args)
	})
}

// objectMethod notes what methods of well-known objects do.
func (w *walk) objectMethod(b object.Object, name string, c *object.Call) {
	if !w.noting {
		return
	}
	last := b.Text[strings.LastIndexByte(b.Text, '.')+1:]
	if last != "" && last[0] >= 'A' && last[0] <= 'Z' || b.Text == "socket.socket" {
		w.note(&w.notes.calls, c.Name)
	}
	w.network(c)
	w.harm(c)
	switch {
	case name == "connect" || name == "connect_ex" || name == "sendto":
		for _, vs := range c.Args {
			w.noteAddress(vs)
		}
		if library.ReachesNetwork(b.Text) {
			w.noteHosts(c.First())
		}
	case strings.HasPrefix(b.Text, "paramiko.") && name == "exec_command", strings.HasPrefix(b.Text, "fabric.") && name == "run":
		// The command runs on another host.
		w.hide()
	case b.Text == "subprocess.Popen" && name == "communicate":
		return
	}
}
