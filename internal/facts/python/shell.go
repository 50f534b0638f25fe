package python

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// runs notes the shell text of a call, or the command that it gives as a list,
// written as shell text.
func (w *walk) runs(d behaviour, c *call) {
	at := w.at
	if cwd, given := c.keywords["cwd"]; given {
		at.Workdir = w.cwd(cwd)
		at.Astray = at.Workdir == "" && (w.at.Workdir != "" || w.at.Astray || !isNone(cwd))
	}
	for name, vs := range c.keywords {
		if name != "env" {
			w.escapeSome(vs)
		}
	}
	switch d.kind {
	case doesShellText:
		vs, _ := c.arg(d.skip, d.name)
		w.shellTexts(vs, c, at)
	case doesRun:
		vs, _ := c.arg(0, "args")
		w.command(vs, c, at)
	case doesRunEither:
		vs, _ := c.arg(0, d.name)
		w.listsOrTexts(vs, c, at)
	case doesRunRest:
		words := c.args
		if c.open {
			words = append(words[:len(words):len(words)], hidden("value", value.Taint{}))
		}
		w.words(words, c, at)
	case doesRunFile:
		file, _ := c.arg(0, d.name)
		if names, given := c.arg(1, "init_globals"); given && !isNone(names) { // what they stand for is not followed
			w.hide()
		}
		w.words([]objects{textOf("python3"), file}, c, at)
	case doesRunNamed:
		w.words(append([]objects{textOf(d.name)}, c.args...), c, at)
	case doesRunPath:
		w.programAndList(c, d.skip, at)
	case doesRunPathRest:
		if len(c.args) > d.skip {
			w.words(append([]objects{c.args[d.skip]}, c.args[min(len(c.args), d.skip+2):]...), c, at)
		}
	}
}

// cwd is the folder that a call runs in; None means the current one.
func (w *walk) cwd(vs objects) string {
	if isNone(vs) {
		return w.at.Workdir
	}
	return w.folder(vs)
}

func isNone(vs objects) bool { return len(vs) == 1 && vs[0].shape == isSymbol && vs[0].text == "None" }

// shellTexts notes texts that a shell runs.
func (w *walk) shellTexts(vs objects, c *call, at value.Place) {
	w.runsTainted(vs.tainted())
	for _, v := range vs {
		if v.shape != isString && v.shape != isPath {
			w.hide()
			w.escapeSome(objects{v})
			continue
		}
		if !whole(v.text) {
			w.hide()
		}
		w.piece(environmentOf(c)+shown(v.text), at)
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
func (w *walk) listsOrTexts(vs objects, c *call, at value.Place) {
	for _, v := range vs {
		if v.shape == isList {
			w.listWords(v, c, at)
			continue
		}
		w.shellTexts(objects{v}, c, at)
	}
}

// command notes what subprocess.run and its like are given.
func (w *walk) command(vs objects, c *call, at value.Place) {
	shell, sure := truth(c.keywords["shell"])
	if c.open && c.keywords["shell"] == nil {
		sure = false
	}
	for _, v := range vs {
		one := objects{v}
		switch {
		case v.shape == isList && shell && sure && len(v.items) > 0:
			w.shellTexts(v.items[0], c, at)
		case v.shape == isList:
			w.listWords(v, c, at)
		case (v.shape == isString || v.shape == isPath) && sure && !shell:
			w.words([]objects{one}, c, at)
		default:
			w.shellTexts(one, c, at)
		}
	}
}

// truth is what a keyword's value says; sure is false if that is not known.
func truth(vs objects) (yes, sure bool) {
	if len(vs) == 0 {
		return false, true
	}
	for i, v := range vs {
		is := v.shape == isSymbol && v.text == "True" || v.shape == isInt && v.number != 0
		no := v.shape == isSymbol && (v.text == "False" || v.text == "None") || v.shape == isInt && v.number == 0
		if !is && !no || i > 0 && is != yes {
			return yes || is, false
		}
		yes = is
	}
	return yes, true
}

func (w *walk) listWords(list object, c *call, at value.Place) {
	items := list.items
	if list.open {
		if len(items) == 0 || onlyOpen(list) {
			w.hide()
		}
		items = append(items[:len(items):len(items)], hidden("value", list.Taint))
	}
	w.words(items, c, at)
}

// onlyOpen says that not even a list's first item is known to be its first.
func onlyOpen(list object) bool { return len(list.items) == 1 && len(list.items[0]) > 1 }

func (w *walk) programAndList(c *call, skip int, at value.Place) {
	if len(c.args) < skip+2 {
		w.hide()
		return
	}
	for _, v := range c.args[skip+1] {
		if v.shape != isList {
			w.hide()
			v = object{shape: isList, items: []objects{nil}, open: true}
		}
		w.words(append([]objects{c.args[skip]}, v.items[min(1, len(v.items)):]...), c, at)
	}
}

// words notes a command that is given word by word, in as many variants as one
// of the words has.
func (w *walk) words(items []objects, c *call, at value.Place) {
	variants := 1
	for _, item := range items {
		variants = max(variants, len(item))
	}
	for i := range min(variants, maxValues) {
		words := make([]string, 0, len(items))
		for _, item := range items {
			word := hole("value")
			if len(item) > 0 {
				word = item[i%len(item)].str()
			}
			words = append(words, word)
		}
		w.wordsPiece(words, c, at)
	}
	for _, item := range items {
		w.escapeSome(item)
	}
}

func (w *walk) wordsPiece(words []string, c *call, at value.Place) {
	if by, given := c.keywords["executable"]; given && len(words) > 0 {
		words[0] = hole("program")
		if program, ok := by.only(); ok {
			words[0] = program
		}
	}
	if len(words) == 0 || !whole(words[0]) {
		w.hide()
	}
	text := make([]string, len(words))
	for i, word := range words {
		text[i] = shellWord(word)
	}
	w.piece(environmentOf(c)+strings.Join(text, " ")+w.inputOf(words, c), at)
}

// inputOf is what an interpreter is given to read.
func (w *walk) inputOf(words []string, c *call) string {
	input, given := c.keywords["input"]
	_, piped := c.keywords["stdin"]
	if len(words) == 0 || !given && !piped || !readsProgram(words) {
		return ""
	}
	w.runsTainted(input.tainted())
	text, known := input.only()
	if !known {
		w.hide()
		return ""
	}
	return " <<< " + shellWord(text)
}

var programReaders = regexp.MustCompile(`^(ba|da|z|k|a|fi)?sh$|^(python|perl|ruby|node|php|lua|pypy)[0-9.]*$|` +
	`^(ssh|sudo|env|nohup|busybox|psql|mysql|sqlite3|xargs|at|batch|crontab|docker|kubectl)$`)

// readsProgram says whether a command takes what it runs from its input.
func readsProgram(words []string) bool {
	if !programReaders.MatchString(path.Base(words[0])) {
		return false
	}
	for _, word := range words[1:] {
		if word == "-c" || word == "-e" || word == "-m" {
			return false
		}
	}
	return true
}

// environmentOf writes the variables that a call sets before its command.
func environmentOf(c *call) string {
	var b strings.Builder
	for _, v := range c.keywords["env"] {
		for i := 0; v.shape == isDict && i+1 < len(v.items); i += 2 {
			name, ok := v.items[i].only()
			if !ok || !bailiff.IsVariable(name) {
				continue
			}
			value := hole(name)
			if len(v.items[i+1]) == 1 {
				value = v.items[i+1][0].str()
			}
			b.WriteString(name + "=" + shellWord(value) + " ")
		}
	}
	return b.String()
}
