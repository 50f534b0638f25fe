package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (a *analysis) env(_ string, inv *invocation, args *arguments) (result, bool) {
	in := *inv
	if code, ok := args.value("-S", "--split-string"); ok {
		return a.text("env", inv, join(append([]word{code}, args.rest...), " "), inv.sc.fork()), true
	}
	rest := args.rest
	if len(rest) > 0 && rest[0].text == "-" {
		rest = rest[1:]
	}
	rest, in.assigns = a.leadingAssignments(rest, &in)
	if dir, ok := args.value("-C", "--chdir"); ok {
		in.sc = a.standing(dir, inv.sc)
	}
	return a.inner("env", &in, rest), true
}

func (a *analysis) leadingAssignments(words []word, inv *invocation) ([]word, []string) {
	assigns := slices.Clip(inv.assigns)
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0].text, "=")
		if !ok || !syntax.ValidName(name) {
			break
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
