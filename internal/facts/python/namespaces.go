package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// namespaceMethod is a method of a namespace such as sys.modules or os.__dict__.
func (w *walk) namespaceMethod(name string, c *object.Call) (object.Objects, bool) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return nil, false
	}
	holder, method := name[:dot], name[dot+1:]
	module, ok := library.InsideOf(holder)
	if !ok {
		return nil, false
	}
	switch method {
	case "get", "pop", "setdefault", "__getitem__":
		return w.symbolItem(holder, c.First()).With(w.optional(c, 1)), true
	}
	if library.OwnNamespace(module) && library.LooksInto[method] { // what the program itself has named
		return nil, false
	}
	if library.OwnNamespace(module) {
		w.hide()
	}
	if library.Dangerous(module) {
		w.dynamic()
	}
	w.escapeAll(c)
	return object.Hidden("value", value.Taint{}), true
}
