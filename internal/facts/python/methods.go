package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
)

// method is a call of a method of a value.
func (w *walk) method(b object, callee *syntax.Expression, c *call) objects {
	name := callee.Text
	if full, ok := throughValue(callee); ok {
		return w.callSymbol(full, c).with(hidden("value", b.allTaint()))
	}
	w.libraryMethod(b, callee, c)
	w.mutate(callee.Kids[0], b, name, c)
	if b.shape == isInstance && !strings.HasPrefix(b.text, ".") {
		c.name = b.text + "." + name
		w.objectMethod(b, name, c)
	}
	if vs, ok := w.knownMethod(b, name, c); ok {
		return vs
	}
	switch b.shape {
	case isString:
		if vs, ok := w.textMethod(b, name, c); ok {
			return vs
		}
	case isPath:
		return w.pathMethod(b, name, c)
	case isFile:
		return w.fileMethod(b, name, c)
	case isDict:
		if vs, ok := w.dictMethod(b, name, c); ok {
			return vs
		}
	case isList:
		if name == "pop" || name == "copy" || name == "__iter__" {
			return w.listMethod(b, name)
		}
	}
	return w.ownMethod(b, callee, c)
}

// knownMethod is a method that the table of calls knows, by the class of its object or, as
// "*.name", of any object.
func (w *walk) knownMethod(b object, name string, c *call) (objects, bool) {
	if b.shape != isInstance && b.shape != isUnknown && b.shape != isFile || strings.HasPrefix(b.text, ".") {
		return nil, false
	}
	if d, ok := behaviours()[b.text+"."+name]; ok && b.shape == isInstance {
		c.name = b.text + "." + name
		w.note(&w.notes.calls, c.name)
		return w.do(d, c), true
	}
	if d, ok := behaviours()["*."+name]; ok && len(w.methods[name]) == 0 {
		w.note(&w.notes.calls, name)
		w.do(d, &call{name: name, args: c.args, keywords: c.keywords, open: c.open})
	}
	return nil, false
}

func (w *walk) listMethod(b object, name string) objects {
	if name == "pop" {
		return elements(objects{b}, "value")
	}
	b.made = nil
	return objects{b}
}

func (w *walk) dictMethod(b object, name string, c *call) (objects, bool) {
	list := object{shape: isList, open: true, Taint: b.Taint}
	switch name {
	case "get", "pop", "setdefault":
		return dictItem(b, c.first()).with(w.optional(c, 1)), true
	case "copy":
		b.made = nil
		return objects{b}, true
	case "values":
		for i := 1; i < len(b.items); i += 2 {
			list.items = append(list.items, b.items[i])
		}
	case "items":
		for i := 0; i+1 < len(b.items); i += 2 {
			list.items = append(list.items, objects{{shape: isList, items: b.items[i : i+2]}})
		}
	default:
		return nil, false
	}
	list.open = b.open
	return w.bounded(objects{list}), true
}

func (w *walk) optional(c *call, i int) objects {
	if i < len(c.args) {
		return c.args[i]
	}
	return nil
}

// ownMethod is a call of a method that the program defines, or of an unknown one.
func (w *walk) ownMethod(b object, callee *syntax.Expression, c *call) objects {
	var out objects
	own := false
	for _, m := range w.methods[callee.Text] {
		own = true
		given := w.apply(m, c)
		if m.define.Decorated {
			// A property's value is what is called.
			w.escape(given)
		}
		out = out.with(given)
	}
	for _, v := range w.attributes[callee.Text] {
		if v.shape == isCallable && v.function.method {
			continue
		}
		out = out.with(w.callValue(v, c))
	}
	if own && (b.shape == isInstance && strings.HasPrefix(b.text, ".") || callee.Kids[0].Form == syntax.NameForm &&
		callee.Kids[0].Text == "self") {
		return out
	}
	c.escapeAll(w)
	if !own && !lookingMethods[callee.Text] {
		w.handOn(&call{args: c.args, keywords: c.keywords, self: c.self})
	}
	if callee.Text == "__setattr__" {
		w.attributesChange()
	}
	for _, item := range b.items {
		w.escapeSome(item)
	}
	return out.with(hidden("value", b.allTaint().With(c.tainted())))
}

// mutate follows what methods do to a list that one variable alone holds; what else they change is not known any more.
func (w *walk) mutate(by *syntax.Expression, b object, name string, c *call) {
	if !b.changeable() || lookers[name] {
		return
	}
	for _, vs := range c.args {
		share(vs)
	}
	switch seen := w.showsIn(by, objects{b}); {
	case !seen:
		w.lose(objects{b})
	case b.shape == isList && name == "append" && len(c.args) == 1:
		w.regrow(by.Text, func(v object) object { return v.extended(objects{{shape: isList, items: c.args}}) })
	case b.shape == isList && name == "extend" && len(c.args) == 1:
		w.regrow(by.Text, func(v object) object { return v.extended(c.args[0]) })
	default:
		w.loosen(by.Text)
	}
}

func (w *walk) regrow(variable string, grow func(object) object) {
	vs, _ := w.lookup(variable)
	var out objects
	for _, v := range vs {
		if v.shape == isList && !v.open {
			v = grow(v)
			// In a loop there may be any number of them, after the first items.
			v.open = v.open || w.loops > 0 || len(v.items) > maxRounds
		}
		out = out.with(objects{v})
	}
	w.set(variable, w.bounded(out))
}

// objectMethod notes what methods of well-known objects do.
func (w *walk) objectMethod(b object, name string, c *call) {
	last := b.text[strings.LastIndexByte(b.text, '.')+1:]
	if last != "" && last[0] >= 'A' && last[0] <= 'Z' || b.text == "socket.socket" {
		w.note(&w.notes.calls, c.name)
	}
	w.network(c)
	w.harm(c)
	switch {
	case name == "connect" || name == "connect_ex" || name == "sendto":
		for _, vs := range c.args {
			w.noteAddress(vs)
		}
		if reachesNetwork(b.text) {
			w.noteHosts(c.first())
		}
	case strings.HasPrefix(b.text, "paramiko.") && name == "exec_command", strings.HasPrefix(b.text, "fabric.") && name == "run":
		// The command runs on another host.
		w.hide()
	case b.text == "subprocess.Popen" && name == "communicate":
		return
	}
}
