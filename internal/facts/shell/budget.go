package shell

import (
	"strings"
)

// budget is what is left of what a reading may cost, and whether the text told all that runs.
type budget struct {
	complete bool
	// idle is set while a function is read that no text called: what it hides does not count.
	// settled says that a settled file is being read.
	idle, settled bool
	// steps, depth, texts and given are what was spent of the limits.
	steps, depth, texts, given int
}

// tooDeep ends a reading whose text nests deeper than any that is written. Every other
// panic is a fault of this package, which the caller has to answer for.
type tooDeep struct{}

// hide notes that the text does not tell what will run.
func (b *budget) hide() {
	if !b.idle && !b.settled {
		b.complete = false
	}
}

// spend counts work; it is false when the text has had its share.
func (b *budget) spend(n int) bool {
	b.steps += n
	if b.steps > MaxSteps {
		b.complete = false
		return false
	}
	return true
}

// enter counts nesting; the returned function leaves again.
func (b *budget) enter() func() {
	if b.depth++; b.depth > MaxNesting {
		panic(tooDeep{})
	}
	return func() { b.depth-- }
}

// again hides what a text does if it is read as arithmetic or as the name of an
// array's element: the shell expands such a text once more, so that in
// "a[$(command)]" the command runs.
func (b *budget) again(w word) {
	_, index, ok := strings.Cut(w.text, "[")
	if ok && (strings.Contains(index, "`") || strings.Contains(strings.ReplaceAll(index, "$(…)", ""), "$(")) {
		b.hide()
	}
}

// readsProgram says that a program of another language is read: it is known, and within the
// limits. Of any other one the meaning is hidden.
func (b *budget) readsProgram(code word) bool {
	b.texts += len(code.text)
	if !code.known || b.texts > maxTexts || !b.spend(1+len(code.text)/64) {
		b.hide()
		return false
	}
	return true
}
