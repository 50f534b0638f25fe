package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (w *walk) setAttribute(target *syntax.Expression, vs objects) {
	w.storeAttribute(w.value(target.Kids[0]), target.Text, vs)
}

// storeAttribute notes that something gets an attribute.
func (w *walk) storeAttribute(base objects, name string, vs objects) {
	for _, b := range base {
		if b.shape == isSymbol {
			// Something imported is changed: a call of it may call anything.
			w.escape(vs)
			if dangerous(b.text+"."+name) || ownNamespace(b.text) {
				w.hide()
			}
		}
		if reveals(b, name) { // such as f.__defaults__
			w.hide()
		}
		if b.shape == isCallable && b.function.class {
			w.learn(&w.variable(b.function.scope, name).ever, vs)
		}
	}
	if name == "__dict__" || name == "__class__" {
		w.attributesChange()
	}
	w.learnAttribute(name, named(vs, name))
	w.escapeSpecial(name, vs)
}

// setAttributeByName is setattr: a name that is not known may be any.
func (w *walk) setAttributeByName(c *call) {
	for _, n := range w.optional(c, 1) {
		if n.shape == isString && literal(n.text) {
			w.storeAttribute(c.first(), n.text, w.optional(c, 2))
			continue
		}
		w.escape(w.optional(c, 2))
		for _, b := range c.first() {
			if b.shape == isSymbol && (dangerousModules[b.text] || ownNamespace(b.text)) || b.shape == isCallable && !b.function.class {
				w.hide()
			}
		}
		w.attributesChange()
	}
}

// escapeSpecial notes what an attribute that Python itself calls is made to call.
func (w *walk) escapeSpecial(name string, vs objects) {
	if strings.HasPrefix(name, "__") {
		w.escapeSome(vs)
	}
}

// reveals says that an attribute leads from something known, a module or a function, to what the program did not name. Of the
// attributes that Python itself gives, only those that lead nowhere are listed.
func reveals(b object, name string) bool {
	if len(name) < 5 || !strings.HasPrefix(name, "__") || !strings.HasSuffix(name, "__") || plainAttributes[name] {
		return false
	}
	return b.shape == isSymbol && !effective(canonical(b.text+"."+name)) || b.shape == isCallable
}

var plainAttributes = value.SetOf("__name__ __qualname__ __module__ __doc__ __version__ __author__ __license__ __copyright__ " +
	"__email__ __all__ __file__ __path__ __package__ __annotations__ __class__ __dict__ __init__ __new__ __del__ __call__ " +
	"__init_subclass__ __class_getitem__ __post_init__ __set_name__ __str__ __repr__ __bytes__ __format__ __bool__ __hash__ " +
	"__len__ __iter__ __next__ __reversed__ __contains__ __getitem__ __setitem__ __delitem__ __missing__ __length_hint__ " +
	"__enter__ __exit__ __aenter__ __aexit__ __await__ __aiter__ __anext__ __get__ __set__ __delete__ __getattr__ " +
	"__setattr__ __delattr__ __copy__ __deepcopy__ __fspath__ __index__ __int__ __float__ __complex__ __sizeof__ __dir__ " +
	"__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __divmod__ __pow__ " +
	"__lshift__ __rshift__ __and__ __or__ __xor__ __radd__ __rsub__ __rmul__ __iadd__ __isub__ __imul__ __neg__ __pos__ " +
	"__abs__ __invert__ __round__ __matmul__ __members__ __slots__ __match_args__ __bound__ __value__ __default__ " +
	"__dataclass_fields__ __fields__ __tablename__ __stdin__ __stdout__ __stderr__ __import__ __builtins__")

// learnAttribute adds to what an attribute of a name may hold in any object.
func (w *walk) learnAttribute(name string, vs objects) {
	share(vs)
	known := w.attributes[name]
	w.learn(&known, vs)
	w.attributes[name] = known
}

func (w *walk) setItem(target *syntax.Expression, vs objects) {
	base := w.value(target.Kids[0])
	for _, b := range base {
		if b.shape == isSymbol && b.text == "os.environ" {
			if name, ok := w.value(target.Kids[1]).only(); ok {
				w.setVariable(name, vs)
			}
			continue
		}
		if b.shape == isSymbol && (dangerousModules[b.text] || ownNamespace(b.text)) {
			w.hide()
		}
	}
	w.value(target.Kids[1])
	w.escape(vs)
	share(vs)
	w.changed(target.Kids[0], base)
}

// changed notes that what an expression gave was changed, to what is not followed.
func (w *walk) changed(by *syntax.Expression, vs objects) {
	if w.showsIn(by, vs) {
		w.loosen(by.Text)
	} else {
		w.lose(vs)
	}
}

// deleted notes that targets are taken out of what holds them.
func (w *walk) deleted(targets []*syntax.Expression, depth int) {
	for _, t := range targets {
		switch {
		case t.Form == syntax.IndexForm:
			w.changed(t.Kids[0], w.value(t.Kids[0]))
		case t.Form == syntax.ListForm && depth < syntax.MaxDepth:
			w.deleted(t.Kids, depth+1)
		}
	}
}

// loosen notes that a list or dictionary was changed in a way that is not followed.
func (w *walk) loosen(name string) {
	vs, _ := w.lookup(name)
	var out objects
	for _, v := range vs {
		if v.shape == isList || v.shape == isDict {
			for _, item := range v.items {
				w.escapeSome(item)
			}
			v = object{shape: v.shape, items: v.items, open: true, made: v.made, Taint: v.Taint}
		}
		if v.shape == isList || v.buffer {
			v = object{shape: isUnknown, text: name, made: v.made, Taint: v.Taint}
		}
		out = out.with(objects{v})
	}
	if len(vs) > 0 {
		w.set(name, out)
	}
}
