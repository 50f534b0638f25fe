package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
)

func (w *walk) setAttribute(target *syntax.Expression, vs object.Objects) {
	w.storeAttribute(w.value(target.Kids[0]), target.Text, vs)
}

// storeAttribute notes that something gets an attribute.
func (w *walk) storeAttribute(base object.Objects, name string, vs object.Objects) {
	for _, b := range base {
		if b.Shape == object.IsSymbol {
			// Something imported is changed: a call of it may call anything.
			w.escape(vs)
			if full := library.Canonical(b.Text + "." + name); library.TakenForGranted(full) || library.OwnNamespace(b.Text) {
				w.hide()
			}
		}
		w.stores(b, vs)
		if reveals(b, name) { // such as f.__defaults__
			w.hide()
		}
		if b.Shape == object.IsCallable && b.Function.Class {
			w.learn(&w.variable(b.Function.Scope, name).Ever, vs)
		}
	}
	if name == "__dict__" || name == "__class__" {
		w.attributesChange()
	}
	w.learnAttribute(name, object.Named(vs, name))
	w.escapeSpecial(name, vs)
}

// setAttributeByName is setattr: a name that is not known may be any.
func (w *walk) setAttributeByName(c *object.Call) {
	for _, n := range w.optional(c, 1) {
		if n.Shape == object.IsString && object.Literal(n.Text) {
			w.storeAttribute(c.First(), n.Text, w.optional(c, 2))
			continue
		}
		w.escape(w.optional(c, 2))
		for _, b := range c.First() {
			if b.Shape == object.IsSymbol && (library.DangerousModules[b.Text] || library.OwnNamespace(b.Text)) ||
				b.Shape == object.IsCallable && !b.Function.Class {
				w.hide()
			}
		}
		w.attributesChange()
	}
}

// escapeSpecial notes what an attribute that Python itself calls is made to call.
func (w *walk) escapeSpecial(name string, vs object.Objects) {
	if strings.HasPrefix(name, "__") {
		w.escapeSome(vs)
	}
}

// reveals says that an attribute leads from something known, a module or a function, to what the program did not name. Of the
// attributes that Python itself gives, only those that lead nowhere are listed.
func reveals(b object.Object, name string) bool {
	if len(name) < 5 || !strings.HasPrefix(name, "__") || !strings.HasSuffix(name, "__") || library.PlainAttributes[name] {
		return false
	}
	return b.Shape == object.IsSymbol && !library.Effective(library.Canonical(b.Text+"."+name)) || b.Shape == object.IsCallable
}

// learnAttribute adds to what an attribute of a name may hold in any object.
func (w *walk) learnAttribute(name string, vs object.Objects) {
	w.leak(vs)
	known := w.attributes[name]
	w.learn(&known, vs)
	w.attributes[name] = known
}

func (w *walk) setItem(target *syntax.Expression, vs object.Objects) {
	base := w.value(target.Kids[0])
	for _, b := range base {
		if b.Shape == object.IsSymbol && b.Text == "os.environ" {
			if name, ok := w.value(target.Kids[1]).Only(); ok {
				w.setVariable(name, vs)
			}
			continue
		}
		if b.Shape == object.IsSymbol && (library.DangerousModules[b.Text] || library.OwnNamespace(b.Text)) {
			w.hide()
		}
	}
	w.escape(vs)
	w.change(base, w.itemChange(target.Kids[1], vs))
}

// itemChange is the change that the assignment of values to an item makes.
func (w *walk) itemChange(key *syntax.Expression, vs object.Objects) func(object.Shape) object.Change {
	if key.Form != syntax.SliceForm {
		keys := w.value(key)
		return func(shape object.Shape) object.Change {
			return object.ByMethod(shape, "__setitem__", []object.Objects{keys, vs})
		}
	}
	start, known := w.sliceStart(key)
	return func(shape object.Shape) object.Change {
		switch {
		case shape != object.IsList:
			return object.Change{}
		case start == 0 && known && key.Kids[1] == nil && key.Kids[2] == nil:
			return object.Change{Kind: object.Replace, Values: vs}
		}
		return object.Change{Kind: object.Splice, Index: start, Known: known, Values: vs, Each: true}
	}
}

// sliceStart is where a slice begins.
func (w *walk) sliceStart(e *syntax.Expression) (start int64, known bool) {
	for i, kid := range e.Kids {
		if vs := w.value(kid); i == 0 && len(vs) == 1 && vs[0].Shape == object.IsInt {
			start, known = vs[0].Number, vs[0].Number >= 0
		}
	}
	return start, known || e.Kids[0] == nil
}

// deleted notes that targets are taken out of what holds them.
func (w *walk) deleted(targets []*syntax.Expression, depth int) {
	for _, t := range targets {
		switch {
		case t.Form == syntax.IndexForm && t.Kids[1].Form == syntax.SliceForm:
			w.change(w.value(t.Kids[0]), w.itemChange(t.Kids[1], object.Objects{{Shape: object.IsList}}))
		case t.Form == syntax.IndexForm:
			keys := w.value(t.Kids[1])
			w.change(w.value(t.Kids[0]), func(shape object.Shape) object.Change {
				return object.ByMethod(shape, "__delitem__", []object.Objects{keys})
			})
		case t.Form == syntax.ListForm && depth < syntax.MaxDepth:
			w.deleted(t.Kids, depth+1)
		}
	}
}
