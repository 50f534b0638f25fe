package library

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// What the words of a name tell of a call that no table has. The names of methods are honest: who writes a library wants it used.

// verbOf is the first word of the last part of a name.
func verbOf(name string) string {
	verb, _, _ := strings.Cut(name[strings.LastIndexByte(name, '.')+1:], "_")
	return verb
}

// SaysSends says that the name of a call tells that what it is given goes elsewhere.
func SaysSends(name string) bool { return sendingWords[verbOf(name)] }

// SaysDeletes says that the name of a call tells that what it is given is gone then.
func SaysDeletes(name string) bool { return deletingWords[verbOf(name)] }

var (
	sendingWords  = value.SetOf("send upload publish transmit exfiltrate")
	deletingWords = value.SetOf("rm rmdir remove delete unlink del erase")
)

// OfAll is what a method is called that deletes all that the call before it gives, as in Model.objects.all().delete(): "delete_all".
func OfAll(method *syntax.Expression) (string, bool) {
	given := method.Kids[0]
	if !deletingWords[method.Text] || given.Form != syntax.CallForm || given.Kids[0].Form != syntax.AttributeForm {
		return "", false
	}
	switch given.Kids[0].Text {
	case "all", "query":
		return method.Text + "_all", true
	}
	return "", false
}
