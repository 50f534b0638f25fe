package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// moduleLine does what the command line of a module of Python's standard library does with
// its arguments; it is false for a module that is not described.
func (a *analysis) moduleLine(name, module string, inv *invocation, args *arguments) bool {
	p := programs.Of("python -m " + module)
	if p == &programs.Undescribed {
		return false
	}
	words := parseArguments(afterModule(args.all), p)
	a.tests(name, p, inv, words)
	e := newEffect(a.overlay, inv.sc)
	e.own, e.args = p, words
	for _, o := range words.options {
		e.option(o, p)
		if slices.Contains(p.Texts, o.name) {
			a.inline(name, "python", inv, o.value)
		}
	}
	e.operands(p.Operands)
	a.alsoTouches(inv.made, e.reads, e.writes)
	a.hosts = append(a.hosts, e.hosts...)
	if slices.Contains(p.Texts, "operands") && len(words.operands) > 0 {
		a.inline(name, "python", inv, join(words.operands, "\n"))
	}
	if p.Language != "" && len(words.operands) > 0 && !words.has("-m", "--module") {
		a.languageFile(name, p.Language, inv, words.operands[0])
	}
	if p.Input == programs.ItsProgram && inv.in.present {
		a.languageStream(name, "python", inv, inv.in)
	}
	return true
}

// afterModule are the words after "-m MODULE".
func afterModule(words []word) []word {
	for i, w := range words {
		switch {
		case w.text == "-m":
			return after(words, i+2)
		case strings.HasPrefix(w.text, "-m"):
			return after(words, i+1)
		}
	}
	return nil
}
