package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// tmux starts a command in a window: one word is a shell's text, several are the command's own words. Its other commands, which
// type or run something elsewhere, are left to the policies.
func (a *analysis) tmux(name string, inv *invocation, args *arguments) (result, bool) {
	verb := programs.Look(name + " " + first(args.rest).text).Described
	if verb == &programs.Undescribed {
		for _, w := range after(args.rest, 1) {
			a.seeksFile(w, inv.sc)
		}
		return result{}, false
	}
	if slices.ContainsFunc(args.rest, leadsElsewhere) {
		a.hide()
		return result{out: unknown(value.Taint{})}, true
	}
	given := parseArguments(args.rest[1:], verb)
	in := *inv
	if dir, ok := given.value(verb.Chdir...); ok {
		in.sc = a.standing(dir, inv.sc)
	}
	switch len(given.rest) {
	case 0:
		return result{}, true
	case 1:
		return a.text(name, &in, given.rest[0], in.sc.fork()), true
	}
	return a.inner(name, &in, given.rest), true
}

// leadsElsewhere says that a word ends one command of tmux, so that another follows, or is a format in which tmux runs a program.
func leadsElsewhere(w word) bool {
	return !w.known && w.text == "" || strings.HasSuffix(w.text, ";") || strings.Contains(w.text, "#(")
}
