package python

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// A call that nothing describes may open the paths that it is given, and start the commands. Paths are noted as touched, for the
// policies to say which of them matter; commands are read by themselves, as what is supposed to run.

const (
	// maxSupposed is how many commands are supposed in one program.
	maxSupposed = 64
	// maxWithin is how deep lists and dictionaries are looked into.
	maxWithin = 6
)

// supposal is a shell text that a call may start.
type supposal struct{ starter, text string }

// isTool says whether a name is that of a tool which a script may call: each such call is a request, and judged by itself. An
// earlier script of the interpreter may have imported terminal.
func isTool(name string) bool { return name == "terminal" || strings.HasPrefix(name, "bailiff_tools.") }

// suppose notes what a call that nothing describes may do with what it is given.
func (w *walk) suppose(name string, c *object.Call) {
	if !w.noting {
		return
	}
	writes := library.SaysOutput(name)
	for _, vs := range c.Args {
		w.supposeAll(name, vs, writes, 0)
	}
	for _, key := range slices.Sorted(maps.Keys(c.Keywords)) {
		w.supposeAll(name, c.Keywords[key], writes || library.SaysOutput(key), 0)
	}
}

func (w *walk) supposeAll(name string, vs object.Objects, writes bool, depth int) {
	if depth > maxWithin || !w.spend() {
		return
	}
	for _, v := range vs {
		switch v.Shape {
		case object.IsString, object.IsPath:
			w.touch(v, writes)
			for _, text := range object.Commands(v.Text) {
				w.supposeText(name, text)
			}
		case object.IsList:
			w.supposeWords(name, v)
			for _, item := range v.Items {
				w.supposeAll(name, item, writes, depth+1)
			}
		case object.IsDict:
			for i := 0; i+1 < len(v.Items); i += 2 {
				key, _ := v.Items[i].Only()
				w.supposeAll(name, v.Items[i+1], writes || library.SaysOutput(key), depth+1)
			}
		}
	}
}

// touch notes the paths that a text names.
func (w *walk) touch(v object.Object, writes bool) {
	if len(v.Text) > maxText || !w.noting {
		return
	}
	for _, text := range object.NamedPaths(v.Text) {
		one := object.Objects{{Shape: object.IsPath, Text: text}}
		w.note(&w.notes.touches, w.paths(one, true)...)
		if writes {
			w.writes(one)
		}
	}
}

// supposeWords notes a list that is a command, word by word.
func (w *walk) supposeWords(name string, list object.Object) {
	if len(list.Items) < 2 {
		return
	}
	first, known := list.Items[0].Only()
	if !known || !object.IsProgram(first) {
		return
	}
	words := make([]string, len(list.Items))
	for i, item := range list.Items {
		words[i] = object.ShellWord(object.Hole("value"))
		if len(item) > 0 {
			words[i] = object.ShellWord(item[0].Str())
		}
	}
	w.supposeText(name, strings.Join(words, " "))
}

func (w *walk) supposeText(name, text string) {
	s := supposal{name, object.Shown(text)}
	if !w.noting || slices.Contains(w.notes.supposals, s) {
		return
	}
	if len(w.notes.supposals) >= maxSupposed {
		w.hide()
		return
	}
	w.notes.supposals = append(w.notes.supposals, s)
}

// supposition is what the supposed commands would do, nil without any.
func (w *walk) supposition() *value.Command {
	var all *value.Command
	for _, s := range w.notes.supposals {
		c := w.shellPiece(piece{s.text, w.deeper()})
		if !c.Parsed || len(c.Calls) == 0 {
			continue
		}
		for i := range c.Calls {
			c.Calls[i].Wrappers = append(slices.Clip(c.Calls[i].Wrappers), s.starter)
		}
		c.Supposed, c.Code, c.Complete = nil, nil, true
		if all != nil {
			text := all.Text + "\n" + c.Text
			c = all.And(c)
			c.Text = text
		}
		all = &c
	}
	return all
}

// supposeAlike takes over what another program was supposed to run.
func (w *walk) supposeAlike(c *value.Command) {
	if c == nil {
		return
	}
	for _, call := range c.Calls {
		w.supposeText(call.Wrappers[len(call.Wrappers)-1], shellText(call.Argv))
	}
}

func shellText(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = object.ShellWord(word)
	}
	return strings.Join(words, " ")
}

// supposeMethod is suppose for a method, unless it is one of a value that is known or does nothing with its words.
func (w *walk) supposeMethod(b object.Object, name string, c *object.Call, own bool) {
	if !w.noting || own || b.Changeable() || library.KeepsWords[name] || library.Lookers[name] {
		return
	}
	switch b.Shape {
	case object.IsUnknown, object.IsInstance:
	default:
		return
	}
	switch name {
	case "execute", "executescript": // statements may name files
		w.touchIn(c)
	case "write":
		if b.Shape == object.IsInstance {
			w.suppose(name, c)
		}
	}
	if b.Shape == object.IsInstance && library.Describes(b.Text) && strings.Contains(b.Text, ".") || library.LookingMethods[name] {
		return
	}
	if b.Library != "" {
		name = b.Library + "." + name
	}
	w.suppose(name, c)
}

// touchIn notes the paths in quotes in statements of a database.
func (w *walk) touchIn(c *object.Call) {
	for _, v := range c.First() {
		if v.Shape == object.IsString && strings.ContainsAny(v.Text, " ") {
			w.touch(v, false)
			w.supposePayload("execute", object.Objects{v}, 0)
		}
	}
}

// supposePayload notes the commands in what goes to another host, or to another language.
func (w *walk) supposePayload(name string, vs object.Objects, depth int) {
	if depth > maxWithin || !w.noting || !w.spend() {
		return
	}
	for _, v := range vs {
		if v.Shape == object.IsString {
			for _, text := range object.Payloads(v.Text) {
				w.supposeText(name, text)
			}
		}
		for _, item := range v.Items {
			w.supposePayload(name, item, depth+1)
		}
	}
}

// standsForPath notes the paths that objects of the program give where a path is wanted.
func (w *walk) standsForPath(vs object.Objects) {
	if name := w.function.Define.Text; name != "__fspath__" && name != "__str__" {
		return
	}
	for _, v := range vs {
		if v.Shape == object.IsString || v.Shape == object.IsPath {
			w.touch(v, false)
		}
	}
}

// stores notes the paths that the state of a library is given: its functions delete and write what that names.
func (w *walk) stores(b object.Object, vs object.Objects) {
	if !w.noting {
		return
	}
	top, _, _ := strings.Cut(b.Text, ".")
	if top == "" && b.Shape != object.IsUnknown {
		return
	}
	switch b.Shape {
	case object.IsSymbol, object.IsInstance, object.IsUnknown:
	default:
		return
	}
	for _, v := range vs {
		if v.Shape != object.IsString && v.Shape != object.IsPath || !object.Rooted(v) {
			continue
		}
		w.touch(v, false)
		if top != "" && library.Standard[top] && w.outsideProject(v) {
			w.removes(object.Objects{v})
		}
	}
}
