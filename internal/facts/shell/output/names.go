package output

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// lists are the names that a program writes, by its kind of output.
func (pr *Printer) lists(inv *call.Invocation, args *call.Arguments) (word.Stream, bool) {
	switch pr.Entry.Own.Output {
	case programs.Listed:
		return word.Listing(inv.In.Taint, word.OneOf(lsNames(args))), true
	case programs.Named:
		return word.Listing(inv.In.Taint, word.OneOf(args.Operands)), true
	case programs.Matching:
		if !args.Has("-l", "-L", "--files", "--files-with-matches", "--files-without-match") {
			return pr.filterLines(inv, args), len(args.AfterScript(args.Operands)) == 0
		}
		return word.Listing(inv.In.Taint, word.OneOf(below(searchRoots(args)))), true
	case programs.Sought:
		var items []word.Word
		for _, w := range args.Operands {
			items = append(items, word.Word{Text: "$(…)/" + strings.TrimPrefix(w.Text, "/"), Glob: w.Glob})
		}
		return word.Listing(inv.In.Taint, items), true
	case programs.Selected:
		return pr.filterLines(inv, args), true
	}
	return word.Stream{}, false
}

// searchRoots are the files and folders that a search for text goes through.
func searchRoots(args *call.Arguments) []word.Word {
	words := args.Operands
	if !args.Has("--files") {
		words = args.AfterScript(words)
	}
	if len(words) == 0 {
		return []word.Word{word.Of(".")}
	}
	return words
}

// below are names, and all that may lie below them.
func below(words []word.Word) []word.Word {
	var out []word.Word
	for _, w := range words {
		out = append(out, w)
		if path.Ext(w.Text) == "" && !w.Glob {
			out = append(out, word.Below(w, "**/*"), word.Below(w, "*"))
		}
	}
	return out
}

// lsNames are the names that "ls" writes: those of its operands that are files, and
// the names in the others, as seen from there.
func lsNames(args *call.Arguments) []word.Word {
	words := args.Operands
	if args.Has("-d", "--directory") && len(words) > 0 {
		return words
	}
	return append(words[:len(words):len(words)], word.Word{Text: "*", Known: true, Glob: true})
}

// filterLines are the lines that a filter lets pass: some of those that it reads.
func (pr *Printer) filterLines(inv *call.Invocation, args *call.Arguments) word.Stream {
	in := inv.In
	for _, w := range args.Operands {
		if s, ok := pr.Content(w, inv.In, inv.Scope, inv.Scope); ok {
			in = s
		}
	}
	out := word.Listing(in.Taint.With(pr.inputTaint(inv, args)), in.Names())
	out.Truncated = in.Truncated
	return out
}

// Completions are the names that "compgen" writes.
func Completions(args *call.Arguments) word.Stream {
	var items []word.Word
	for _, o := range args.Options {
		if o.Name == "-G" || o.Name == "-W" {
			w := o.Value
			w.Glob = true
			items = append(items, w)
		}
	}
	if args.Has("-f", "-d", "-A") {
		for _, w := range args.Operands {
			w.Text, w.Glob = w.Text+"*", true
			items = append(items, w)
		}
	}
	return word.Listing(value.Taint{}, items)
}
