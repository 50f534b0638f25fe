package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// runs notes the shell text of a call, or the command that it gives as a list,
// written as shell text.
func (w *walk) runs(d library.Behaviour, c *object.Call) {
	at := w.at
	if cwd, given := c.Keywords["cwd"]; given {
		at.Workdir = w.cwd(cwd)
		at.Astray = at.Workdir == "" && (w.at.Workdir != "" || w.at.Astray || !object.IsNone(cwd))
	}
	for name, vs := range c.Named() {
		if name != "env" {
			w.escapeSome(vs)
		}
	}
	switch d.Kind {
	case library.DoesShellText:
		vs, _ := c.Arg(d.Skip, d.Name)
		w.shellTexts(vs, c, at)
	case library.DoesRun:
		vs, _ := c.Arg(0, "args")
		w.command(vs, c, at)
	case library.DoesRunEither:
		vs, _ := c.Arg(0, d.Name)
		w.listsOrTexts(vs, c, at)
	case library.DoesRunRest:
		words := c.Args
		if c.Open {
			words = append(words[:len(words):len(words)], object.Hidden("value", value.Taint{}))
		}
		w.words(words, c, at)
	case library.DoesRunFile:
		file, _ := c.Arg(0, d.Name)
		if names, given := c.Arg(1, "init_globals"); given && !object.IsNone(names) { // what they stand for is not followed
			w.hide()
		}
		w.words([]object.Objects{object.TextOf("python3"), file}, c, at)
	case library.DoesRunNamed:
		var words []object.Objects
		for _, word := range strings.Fields(d.Name) {
			words = append(words, object.TextOf(word))
		}
		w.words(slices.Concat(words, c.Options(d.Operand), c.Args), &object.Call{Args: c.Args}, at)
	case library.DoesRunPath:
		w.programAndList(c, d.Skip, at)
	case library.DoesRunPathRest:
		if len(c.Args) > d.Skip {
			w.words(append([]object.Objects{c.Args[d.Skip]}, c.Args[min(len(c.Args), d.Skip+2):]...), c, at)
		}
	}
}

// cwd is the folder that a call runs in; None means the current one.
func (w *walk) cwd(vs object.Objects) string {
	if object.IsNone(vs) {
		return w.at.Workdir
	}
	return w.folder(vs)
}

// shellTexts notes texts that a shell runs.
func (w *walk) shellTexts(vs object.Objects, c *object.Call, at value.Place) {
	w.runsTainted(vs.Tainted())
	for _, v := range vs {
		if v.Shape != object.IsString && v.Shape != object.IsPath {
			w.hide()
			w.escapeSome(object.Objects{v})
			continue
		}
		if !object.Whole(v.Text) {
			w.hide()
		}
		w.piece(object.EnvironmentOf(c)+object.Shown(v.Text), at)
	}
}

// piece notes one shell text.
func (w *walk) piece(text string, at value.Place) {
	if !w.noting {
		return
	}
	p := piece{text, at}
	if slices.Contains(w.notes.pieces, p) {
		return
	}
	w.notes.size += len(text)
	if len(w.notes.pieces) >= maxPieces || w.notes.size > value.MaxText {
		w.hide()
		return
	}
	w.notes.pieces = append(w.notes.pieces, p)
}

const maxPieces = 500

// listsOrTexts notes commands as lists, and texts that a shell runs.
func (w *walk) listsOrTexts(vs object.Objects, c *object.Call, at value.Place) {
	for _, v := range vs {
		if v.Shape == object.IsList {
			w.listWords(v, c, at)
			continue
		}
		w.shellTexts(object.Objects{v}, c, at)
	}
}

// command notes what subprocess.run and its like are given.
func (w *walk) command(vs object.Objects, c *object.Call, at value.Place) {
	shell, sure := object.Truth(c.Keywords["shell"])
	if c.Open && c.Keywords["shell"] == nil {
		sure = false
	}
	for _, v := range vs {
		one := object.Objects{v}
		switch {
		case v.Shape == object.IsList && shell && sure && len(v.Items) > 0:
			w.shellTexts(v.Items[0], c, at)
		case v.Shape == object.IsList:
			w.listWords(v, c, at)
		case (v.Shape == object.IsString || v.Shape == object.IsPath) && sure && !shell:
			w.words([]object.Objects{one}, c, at)
		default:
			w.shellTexts(one, c, at)
		}
	}
}

func (w *walk) listWords(list object.Object, c *object.Call, at value.Place) {
	items := list.Items
	if list.Open {
		if len(items) == 0 || object.OnlyOpen(list) {
			w.hide()
		}
		items = append(items[:len(items):len(items)], object.Hidden("value", list.Taint))
	}
	w.words(items, c, at)
}

func (w *walk) programAndList(c *object.Call, skip int, at value.Place) {
	if len(c.Args) < skip+2 {
		w.hide()
		return
	}
	for _, v := range c.Args[skip+1] {
		if v.Shape != object.IsList {
			w.hide()
			v = object.Object{Shape: object.IsList, Items: []object.Objects{nil}, Open: true}
		}
		w.words(append([]object.Objects{c.Args[skip]}, v.Items[min(1, len(v.Items)):]...), c, at)
	}
}

// words notes a command that is given word by word, in as many variants as one
// of the words has.
func (w *walk) words(items []object.Objects, c *object.Call, at value.Place) {
	variants := 1
	for _, item := range items {
		variants = max(variants, len(item))
	}
	for i := range min(variants, object.MaxValues) {
		words := make([]string, 0, len(items))
		for _, item := range items {
			word := object.Hole("value")
			if len(item) > 0 {
				word = item[i%len(item)].Str()
			}
			words = append(words, word)
		}
		if text, meant := object.MeantForShell(words); meant {
			w.supposeText(c.Name, text)
		}
		w.wordsPiece(words, c, at)
	}
	for _, item := range items {
		w.escapeSome(item)
	}
}

func (w *walk) wordsPiece(words []string, c *object.Call, at value.Place) {
	if by, given := c.Keywords["executable"]; given && len(words) > 0 {
		words[0] = object.Hole("program")
		if program, ok := by.Only(); ok {
			words[0] = program
		}
	}
	if len(words) == 0 || !object.Whole(words[0]) {
		w.hide()
	}
	text := make([]string, len(words))
	for i, word := range words {
		text[i] = object.ShellWord(word)
	}
	w.piece(object.EnvironmentOf(c)+strings.Join(text, " ")+w.inputOf(words, c), at)
}

// inputOf is what an interpreter is given to read.
func (w *walk) inputOf(words []string, c *object.Call) string {
	input, given := c.Keywords["input"]
	_, piped := c.Keywords["stdin"]
	if len(words) == 0 || !given && !piped || !object.ReadsProgram(words) {
		return ""
	}
	w.runsTainted(input.Tainted())
	text, known := input.Only()
	if !known {
		w.hide()
		return ""
	}
	return " <<< " + object.ShellWord(text)
}
