package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// A value that a call of a library gave is an object of it, and so is what is got from it
// by attributes, methods and loops. A method of one is noted by the library and its own
// name alone, as "boto3.delete_bucket": which of a library's many classes it is of is not
// followed. Python's own modules are told by full names.

// libraryOf is the library that a dotted name is of; empty if it is Python's own.
func libraryOf(name string) string {
	if top, _, more := strings.Cut(name, "."); more && !library.Standard[top] {
		return top
	}
	return ""
}

// libraryMember notes a method, or another attribute, of an object of a library, whether it is called here or handed on.
func (w *walk) libraryMember(b object.Object, name string) {
	if w.noting && b.Library != "" && (b.Shape == object.IsInstance || b.Shape == object.IsUnknown) {
		w.note(&w.notes.calls, b.Library+"."+name)
	}
}

// libraryMethod notes a call of such a method, which may stand for a verb of a program.
func (w *walk) libraryMethod(b object.Object, callee *syntax.Expression, c *object.Call) {
	w.libraryMember(b, callee.Text)
	if b.Library == "" {
		return
	}
	w.wordsTell(b.Library+"."+callee.Text, c)
	if whole, all := library.OfAll(callee); all {
		w.libraryMember(b, whole)
	}
	holder := ""
	if callee.Kids[0].Form == syntax.AttributeForm {
		holder = callee.Kids[0].Text
	}
	if d := library.Verb(b.Library, holder, callee.Text); d.Kind != library.DoesNothing {
		w.runs(d, c)
	}
}

// wordsTell notes what the words of a library's call tell of it: that it sends what it is given, or deletes with all that is below.
func (w *walk) wordsTell(name string, c *object.Call) {
	if library.SaysSends(name) && c.Tainted().Read {
		w.feature(value.FeatureSendsFiles)
	}
	if deep, sure := object.Truth(c.Keywords["recursive"]); deep && sure && library.SaysDeletes(name) {
		w.note(&w.notes.calls, "shutil.rmtree")
	}
}

// deletesByMethod notes a request of a client of HTTP whose method is a word of the call.
func (w *walk) deletesByMethod(c *object.Call) {
	if !library.ReachesNetwork(c.Name) {
		return
	}
	given := slices.Concat(c.Args[:min(2, len(c.Args))], []object.Objects{c.Keywords["method"]})
	for _, v := range slices.Concat(given...) {
		if v.Shape == object.IsString && strings.EqualFold(v.Text, "DELETE") {
			top, _, _ := strings.Cut(c.Name, ".")
			w.note(&w.notes.calls, top+".delete")
		}
	}
}
