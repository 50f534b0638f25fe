package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// Assignments reads the assignments before the command of a wrapper: the rest of the words, and the names that get a value.
func (a *analysis) Assignments(words []word.Word, inv *call.Invocation) ([]word.Word, []string) {
	assigns := slices.Clip(inv.Assigns)
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0].Text, "=")
		if !ok || name == "" {
			break
		}
		if !syntax.ValidName(name) {
			if !words[0].Known && strings.Contains(name, "$") {
				a.Hide() // it may be the name of any variable
			}
			a.runExport(name, word.Part(words[0], value), inv)
			words = words[1:]
			continue
		}
		assigns = append(assigns, name)
		a.Assigns = append(a.Assigns, name)
		a.NoteSetting(name, value)
		a.runValue(name, word.Part(words[0], value), inv.Scope, true)
		if languages.IsSearched(name) {
			inv.Scope = inv.Scope.Fork()
			inv.Scope.Set(name, state.Variable{List: []word.Word{word.Part(words[0], value)}})
		}
		words = words[1:]
	}
	return words, assigns
}

// runExport reads a function that a variable hands to the shells that are started: any of them may call it.
func (a *analysis) runExport(variable string, body word.Word, inv *call.Invocation) {
	if !strings.HasPrefix(variable, "BASH_FUNC_") {
		return
	}
	call := word.Part(body, "f"+body.Text+"\nf")
	call.Known = body.Known
	a.Text("env", inv, call, inv.Scope.Fork())
}
