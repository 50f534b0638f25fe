package grammars

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

func (rd *Reader) env(_ string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	in := *inv
	if code, ok := args.Value("-S", "--split-string"); ok {
		words := append([]word.Word{code}, behindSplit(inv.Argv[1:], args.Rest)...)
		return rd.Text("env", inv, word.Join(words, " "), inv.Scope.Fork()), true
	}
	rest := args.Rest
	if len(rest) > 0 && rest[0].Text == "-" {
		rest = rest[1:]
	}
	rest, in.Assigns = rd.Assignments(rest, &in)
	if dir, ok := args.Value("-C", "--chdir"); ok {
		in.Scope = rd.ScopeIn(dir, inv.Scope)
	}
	return rd.Inner("env", &in, rest), true
}

// behindSplit are the words after the text that env splits: all of them belong to the
// command, those that look like options too.
func behindSplit(words, rest []word.Word) []word.Word {
	for i, w := range words {
		switch {
		case w.Text == "-S" || w.Text == "--split-string":
			return word.After(words, i+2)
		case strings.HasPrefix(w.Text, "-S"), strings.HasPrefix(w.Text, "--split-string="):
			return words[i+1:]
		}
	}
	return rest
}

// Environment is a call with the variables that options set for the program which it starts. A value that is neither an assignment nor
// the plain name of a variable, which sets none, may set any.
func (rd *Reader) Environment(options programs.Words, inv *call.Invocation, args *call.Arguments) *call.Invocation {
	if len(options) == 0 {
		return inv
	}
	with := *inv
	for _, o := range args.Options {
		if !slices.Contains(options, o.Name) {
			continue
		}
		rest, assigns := rd.Assignments([]word.Word{o.Value}, &with)
		with.Assigns = assigns
		if len(rest) > 0 && !(rest[0].Known && syntax.ValidName(rest[0].Text)) {
			rd.Hide()
		}
	}
	return &with
}
