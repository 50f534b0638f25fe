package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (a *analysis) leadingAssignments(words []word, inv *invocation) ([]word, []string) {
	assigns := slices.Clip(inv.assigns)
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0].text, "=")
		if !ok || name == "" {
			break
		}
		if !syntax.ValidName(name) {
			if !words[0].known && strings.Contains(name, "$") {
				a.hide() // it may be the name of any variable
			}
			a.exported(name, part(words[0], value), inv)
			words = words[1:]
			continue
		}
		assigns = append(assigns, name)
		a.assigns = append(a.assigns, name)
		a.setting(name, value)
		a.chosen(name, part(words[0], value), inv.sc, true)
		if isSearched(name) {
			inv.sc = inv.sc.fork()
			inv.sc.set(name, variable{list: []word{part(words[0], value)}})
		}
		words = words[1:]
	}
	return words, assigns
}

// exported reads a function that a variable hands to the shells that are started: any of them may call it.
func (a *analysis) exported(variable string, body word, inv *invocation) {
	if !strings.HasPrefix(variable, "BASH_FUNC_") {
		return
	}
	call := part(body, "f"+body.text+"\nf")
	call.known = body.known
	a.text("env", inv, call, inv.sc.fork())
}
