package state

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// What one text may cost. A text that runs into a limit is not complete.
const (
	MaxSteps   = 200_000
	MaxNesting = 200
	// maxTexts is how long all texts may be that lie inside of the text.
	maxTexts = 2 << 20
)

// Budget is what is left of what a reading may cost, and whether the text told all that runs.
type Budget struct {
	Complete bool
	// Idle is set while a function is read that no text called: what it hides does not count.
	// Settled says that a settled file is being read.
	Idle, Settled bool
	// steps, depth, texts and given are what was spent of the limits.
	steps, depth, texts, given int
}

// TooDeep ends a reading whose text nests deeper than any that is written. Every other
// panic is a fault of this package, which the caller has to answer for.
type TooDeep struct{}

// Hide notes that the text does not tell what will run.
func (b *Budget) Hide() {
	if !b.Idle && !b.Settled {
		b.Complete = false
	}
}

// Spend counts work; it is false when the text has had its share.
func (b *Budget) Spend(n int) bool {
	b.steps += n
	if b.steps > MaxSteps {
		b.Complete = false
		return false
	}
	return true
}

// Enter counts nesting; the returned function leaves again.
func (b *Budget) Enter() func() {
	if b.depth++; b.depth > MaxNesting {
		panic(TooDeep{})
	}
	return func() { b.depth-- }
}

// Resume has a reading beside another one go on from what that has spent.
func (b *Budget) Resume(from *Budget) { b.steps, b.depth, b.texts = from.steps, from.depth, from.texts }

// Charge takes over the work that a reading beside this one has done.
func (b *Budget) Charge(spent *Budget) { b.steps = spent.steps }

// CountText counts a text that lies inside of the text; it is false for too much.
func (b *Budget) CountText(length int) bool {
	b.texts += length
	return b.texts <= maxTexts
}

// CheckIndex hides what a text does if it is read as arithmetic or as the name of an
// array's element: the shell expands such a text once more, so that in
// "a[$(command)]" the command runs.
func (b *Budget) CheckIndex(w word.Word) {
	_, index, ok := strings.Cut(w.Text, "[")
	if ok && (strings.Contains(index, "`") || strings.Contains(strings.ReplaceAll(index, "$(…)", ""), "$(")) {
		b.Hide()
	}
}

// Admit says that a program of another language is read: it is known, and within the
// limits. Of any other one the meaning is hidden.
func (b *Budget) Admit(code word.Word) bool {
	b.texts += len(code.Text)
	if !code.Known || b.texts > maxTexts || !b.Spend(1+len(code.Text)/64) {
		b.Hide()
		return false
	}
	return true
}
