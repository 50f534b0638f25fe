package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

func (a *analysis) env(_ string, inv *invocation, args *arguments) (result, bool) {
	in := *inv
	if code, ok := args.value("-S", "--split-string"); ok {
		return a.text("env", inv, join(append([]word{code}, behindSplit(inv.argv[1:], args.rest)...), " "), inv.sc.fork()), true
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

// behindSplit are the words after the text that env splits: all of them belong to the
// command, those that look like options too.
func behindSplit(words, rest []word) []word {
	for i, w := range words {
		switch {
		case w.text == "-S" || w.text == "--split-string":
			return after(words, i+2)
		case strings.HasPrefix(w.text, "-S"), strings.HasPrefix(w.text, "--split-string="):
			return words[i+1:]
		}
	}
	return rest
}

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

// handingOn is a call with the variables that options set for the program which it starts. A value that is neither an assignment nor
// the plain name of a variable, which sets none, may set any.
func (a *analysis) handingOn(options programs.Words, inv *invocation, args *arguments) *invocation {
	if len(options) == 0 {
		return inv
	}
	with := *inv
	for _, o := range args.options {
		if !slices.Contains(options, o.name) {
			continue
		}
		rest, assigns := a.leadingAssignments([]word{o.value}, &with)
		with.assigns = assigns
		if len(rest) > 0 && !(rest[0].known && syntax.ValidName(rest[0].text)) {
			a.hide()
		}
	}
	return &with
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
