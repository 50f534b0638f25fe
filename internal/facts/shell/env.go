package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

func (rd *reader) env(_ string, inv *invocation, args *arguments) (result, bool) {
	in := *inv
	if code, ok := args.value("-S", "--split-string"); ok {
		return rd.text("env", inv, join(append([]word{code}, behindSplit(inv.argv[1:], args.rest)...), " "), inv.sc.fork()), true
	}
	rest := args.rest
	if len(rest) > 0 && rest[0].text == "-" {
		rest = rest[1:]
	}
	rest, in.assigns = rd.leadingAssignments(rest, &in)
	if dir, ok := args.value("-C", "--chdir"); ok {
		in.sc = rd.standing(dir, inv.sc)
	}
	return rd.inner("env", &in, rest), true
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

// handingOn is a call with the variables that options set for the program which it starts. A value that is neither an assignment nor
// the plain name of a variable, which sets none, may set any.
func (rd *reader) handingOn(options programs.Words, inv *invocation, args *arguments) *invocation {
	if len(options) == 0 {
		return inv
	}
	with := *inv
	for _, o := range args.options {
		if !slices.Contains(options, o.name) {
			continue
		}
		rest, assigns := rd.leadingAssignments([]word{o.value}, &with)
		with.assigns = assigns
		if len(rest) > 0 && !(rest[0].known && syntax.ValidName(rest[0].text)) {
			rd.hide()
		}
	}
	return &with
}
