package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"

	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
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
	if b.Library != "" && (b.Shape == object.IsInstance || b.Shape == object.IsUnknown) {
		w.note(&w.notes.calls, b.Library+"."+name)
	}
}

// libraryMethod notes a call of such a method. Those of GitPython's "git" are git's own verbs.
func (w *walk) libraryMethod(b object.Object, callee *syntax.Expression, c *object.Call) {
	w.libraryMember(b, callee.Text)
	if holder := callee.Kids[0]; b.Library == "git" && holder.Form == syntax.AttributeForm && holder.Text == "git" {
		verb := strings.ReplaceAll(callee.Text, "_", "-")
		w.words(append([]object.Objects{object.TextOf("git"), object.TextOf(verb)}, c.Args...), &object.Call{}, w.at)
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
