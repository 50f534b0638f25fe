package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// call is what a call is given.
type call struct {
	name     string
	args     []objects
	keywords map[string]objects
	// open says that there may be more arguments.
	open bool
}

// arg is the argument at a place or under a name.
func (c *call) arg(i int, name string) (objects, bool) {
	if vs, ok := c.keywords[name]; ok && name != "" {
		return vs, true
	}
	if i >= 0 && i < len(c.args) {
		return c.args[i], true
	}
	if c.open {
		return hidden("value", value.Taint{}), true
	}
	return nil, false
}

// first is the argument that a call is about.
func (c *call) first() objects {
	if len(c.args) > 0 {
		return c.args[0]
	}
	return nil
}

func (c *call) tainted() value.Taint {
	var all value.Taint
	for _, vs := range c.args {
		all = all.With(vs.tainted())
	}
	for _, vs := range c.keywords {
		all = all.With(vs.tainted())
	}
	return all
}

// escapeAll notes that all arguments went into code that is not followed.
func (c *call) escapeAll(w *walk) {
	for _, vs := range c.args {
		w.escape(vs)
	}
	for _, vs := range c.keywords {
		w.escape(vs)
	}
}

func (w *walk) call(e *expression) objects {
	callee := e.kids[0]
	if callee.form == attributeForm {
		return w.callMember(callee, e)
	}
	callees := w.value(callee)
	c := w.arguments(e)
	var out objects
	for _, v := range callees {
		out = out.with(w.callValue(v, c))
	}
	return out
}

func (w *walk) callMember(callee, e *expression) objects {
	base := w.value(callee.kids[0])
	if revealing[callee.text] {
		w.dynamic()
	}
	c := w.arguments(e)
	var out objects
	for _, b := range base {
		switch {
		case b.shape == isSymbol:
			out = out.with(w.callSymbol(canonical(b.text+"."+callee.text), c))
		case b.shape == isCallable && b.function.class:
			for _, m := range w.classMember(b.function, callee.text) {
				out = out.with(w.callValue(m, c))
			}
		default:
			out = out.with(w.method(b, callee, c))
		}
	}
	return out
}

func (w *walk) callValue(v object, c *call) objects {
	switch {
	case v.shape == isSymbol:
		return w.callSymbol(v.text, c)
	case v.shape == isCallable:
		return w.apply(v.function, c)
	case v.shape == isInstance && v.text == "getattr":
		w.dynamic()
	}
	c.escapeAll(w)
	return hidden("value", v.Taint.With(c.tainted()))
}

func (w *walk) arguments(e *expression) *call {
	c := &call{keywords: map[string]objects{}}
	for i, name := range e.names {
		vs := w.value(e.kids[i+1])
		switch name {
		case "":
			c.args = append(c.args, vs)
		case "*":
			c.spread(vs)
		case "**":
			c.spreadNamed(w, vs)
		default:
			c.keywords[name] = vs
		}
	}
	return c
}

func (c *call) spread(vs objects) {
	if len(vs) == 1 && vs[0].shape == isList && !vs[0].open {
		c.args = append(c.args, vs[0].items...)
		return
	}
	c.args = append(c.args, elements(vs, "value"))
	c.open = true
}

func (c *call) spreadNamed(w *walk, vs objects) {
	for _, v := range vs {
		if v.shape != isDict || v.open {
			c.open = true
		}
		for i := 0; v.shape == isDict && i+1 < len(v.items); i += 2 {
			if name, ok := v.items[i].only(); ok {
				c.keywords[name] = c.keywords[name].with(v.items[i+1])
			} else {
				c.open = true
			}
		}
		if v.shape == isSymbol {
			w.escape(vs)
		}
	}
}

// callSymbol is a call of something imported or built in.
func (w *walk) callSymbol(name string, c *call) objects {
	c.name = name
	w.note(&w.notes.calls, name)
	if vs, ok := w.namespaceMethod(name, c); ok {
		return vs
	}
	w.network(c)
	w.harm(c)
	d, known := behaviours()[name]
	if !known {
		d = behaviourOfModule(name)
	}
	return w.do(d, c)
}

// method is a call of a method of a value.
func (w *walk) method(b object, callee *expression, c *call) objects {
	name := callee.text
	if full, ok := throughValue(callee); ok {
		return w.callSymbol(full, c).with(hidden("value", b.allTaint()))
	}
	if callee.kids[0].form == nameForm {
		w.mutate(callee.kids[0].text, b, name, c)
	}
	if b.shape == isInstance && !strings.HasPrefix(b.text, ".") {
		c.name = b.text + "." + name
		w.objectMethod(b, name, c)
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
		if name == "get" && len(c.args) > 0 {
			return dictItem(b, c.args[0]).with(w.optional(c, 1))
		}
	}
	return w.ownMethod(b, callee, c)
}

func (w *walk) optional(c *call, i int) objects {
	if i < len(c.args) {
		return c.args[i]
	}
	return nil
}

// ownMethod is a call of a method that the program defines, or of an unknown one.
func (w *walk) ownMethod(b object, callee *expression, c *call) objects {
	var out objects
	own := false
	for _, m := range w.methods[callee.text] {
		own = true
		given := w.apply(m, c)
		if m.define.decorated {
			// A property's value is what is called.
			w.escape(given)
		}
		out = out.with(given)
	}
	for _, v := range w.attributes[callee.text] {
		if v.shape == isCallable && v.function.method {
			continue
		}
		out = out.with(w.callValue(v, c))
	}
	if own && (b.shape == isInstance && strings.HasPrefix(b.text, ".") || callee.kids[0].form == nameForm &&
		callee.kids[0].text == "self") {
		return out
	}
	c.escapeAll(w)
	return out.with(hidden("value", b.allTaint().With(c.tainted())))
}

// mutate follows what methods do to the list in a variable.
func (w *walk) mutate(variable string, b object, name string, c *call) {
	if b.shape != isList && b.shape != isDict {
		return
	}
	switch {
	case b.shape == isList && name == "append" && len(c.args) == 1:
		w.regrow(variable, func(v object) object { return v.extended(objects{{shape: isList, items: c.args}}) })
	case b.shape == isList && name == "extend" && len(c.args) == 1:
		w.regrow(variable, func(v object) object { return v.extended(c.args[0]) })
	case b.shape == isList && (name == "insert" || name == "pop" || name == "remove" || name == "reverse" || name == "sort" ||
		name == "clear"),
		b.shape == isDict && (name == "update" || name == "pop" || name == "clear" || name == "setdefault"):
		w.loosen(variable)
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
