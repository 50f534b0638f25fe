package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
)

// identified marks the things that an expression makes.
func (w *walk) identified(e *syntax.Expression, vs object.Objects) object.Objects {
	for i, v := range vs {
		if !v.Changeable() || v.Made != nil {
			continue
		}
		m := w.made[e]
		if m == nil {
			m = &object.Made{}
			w.made[e] = m
		}
		if w.loops == 0 { // a new one, which nothing reaches yet
			m.Holder, m.Shared = nil, false
		}
		vs[i].Made = m
	}
	return vs
}

// showsIn says that a change of values, which an expression gave, shows in the variable that it names: that alone reaches them.
func (w *walk) showsIn(by *syntax.Expression, vs object.Objects) bool {
	if by.Form != syntax.NameForm || w.scope.Brief || w.scope.Holds(by.Text) != w.scope {
		return false
	}
	own := w.scope.Vars[by.Text]
	for _, v := range vs {
		if v.Changeable() && (own == nil || v.Made != nil && (v.Made.Shared || v.Made.Holder != own)) {
			return false
		}
	}
	return own != nil
}

// lose notes that values were changed in a way that is not followed, or may be.
func (w *walk) lose(vs object.Objects) {
	for _, v := range vs {
		if m := v.Made; m != nil && !m.Loose && w.named {
			m.Loose, w.grew, w.lost = true, true, true
		}
	}
}

// loseAll is lose for values and what is in them.
func (w *walk) loseAll(vs object.Objects, depth int) {
	if depth > syntax.MaxDepth || !w.spend() {
		return
	}
	w.lose(vs)
	w.loseInside(vs, depth)
}

func (w *walk) loseInside(vs object.Objects, depth int) {
	for _, v := range vs {
		for _, item := range v.Items {
			w.loseAll(item, depth+1)
		}
	}
}

// known are values without what was lost of them and of what is in them. What was made just now is as it was made.
func (w *walk) known(vs object.Objects, now *object.Made, depth int) object.Objects {
	if !w.lost || depth > syntax.MaxDepth || !w.spend() {
		return vs
	}
	for i, v := range vs {
		switch {
		case now != nil && v.Made == now:
			continue
		case v.Made == nil || !v.Made.Loose:
		case v.Shape == object.IsDict:
			vs[i].Open = true
		default:
			vs[i] = object.Object{Shape: object.IsUnknown, Text: "value", Taint: v.AllTaint(), Made: v.Made}
			continue
		}
		for j, item := range v.Items {
			if j == 0 {
				vs[i].Items = slices.Clone(v.Items)
			}
			vs[i].Items[j] = w.known(slices.Clone(item), now, depth+1)
		}
	}
	return vs
}

// handOn notes what code that is not followed may change of its arguments: what they hold, and the attributes of classes and of
// their instances.
func (w *walk) handOn(c *object.Call) {
	if library.KeepsNothing(c.Name) || c.Name == "type" && len(c.Args) == 1 {
		return
	}
	few := library.GivesItems[c.Name] || strings.HasPrefix(c.Name, "itertools.")
	for _, vs := range c.All() {
		if few {
			w.loseInside(vs, 0)
		} else {
			w.loseAll(vs, 0)
		}
		w.openAttributes(vs, c, 0)
	}
	if c.Self && !few {
		w.attributesChange()
	}
}

// openAttributes notes that code which is not followed was given a class of the program, an instance of one, or the name of one.
func (w *walk) openAttributes(vs object.Objects, c *object.Call, depth int) {
	if depth > syntax.MaxDepth || !w.spend() {
		return
	}
	for _, v := range vs {
		switch {
		case v.Shape == object.IsCallable && v.Function.Class, v.Shape == object.IsInstance && strings.HasPrefix(v.Text, "."):
			w.attributesChange()
		case v.Shape == object.IsString && strings.HasPrefix(v.Text, "__main__."):
			w.hide()
		}
		for _, item := range v.Items {
			w.openAttributes(item, c, depth+1)
		}
	}
}

// attributesChange notes that attributes may hold what nothing in the program assigns to them by their names.
func (w *walk) attributesChange() {
	if !w.attributesOpen && w.named {
		w.attributesOpen, w.grew = true, true
	}
}
