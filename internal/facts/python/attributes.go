package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
)

func (w *walk) setAttribute(target *syntax.Expression, vs objects) {
	base := w.value(target.Kids[0])
	for _, b := range base {
		if b.shape == isSymbol {
			// Something imported is changed: a call of it may call anything.
			w.escape(vs)
			if dangerous(b.text + "." + target.Text) {
				w.hide()
			}
		}
	}
	w.learnAttribute(target.Text, named(vs, target.Text))
	w.escapeSpecial(target.Text, vs)
}

// escapeSpecial notes what an attribute that Python itself calls is made to call.
func (w *walk) escapeSpecial(name string, vs objects) {
	if strings.HasPrefix(name, "__") {
		w.escapeSome(vs)
	}
}

// learnAttribute adds to what an attribute of a name may hold in any object.
func (w *walk) learnAttribute(name string, vs objects) {
	known := w.attributes[name]
	w.learn(&known, vs)
	w.attributes[name] = known
}

func (w *walk) setItem(target *syntax.Expression, vs objects) {
	for _, b := range w.value(target.Kids[0]) {
		if b.shape == isSymbol && b.text == "os.environ" {
			if name, ok := w.value(target.Kids[1]).only(); ok {
				w.setVariable(name, vs)
			}
			continue
		}
		if b.shape == isSymbol && (dangerousModules[b.text] || b.text == "globals()" || b.text == "locals()") {
			w.hide()
		}
	}
	w.value(target.Kids[1])
	w.escape(vs)
	if target.Kids[0].Form == syntax.NameForm {
		w.loosen(target.Kids[0].Text)
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
			v = object{shape: v.shape, items: v.items, open: true, Taint: v.Taint}
			if v.shape == isList {
				v = object{shape: isUnknown, text: name, Taint: v.Taint}
			}
		}
		out = out.with(objects{v})
	}
	if len(vs) > 0 {
		w.set(name, out)
	}
}
