package shell

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// lists are the names that a program writes, by its kind of output.
func (pr *printer) lists(inv *invocation, args *arguments) (stream, bool) {
	switch pr.entry.Own.Output {
	case programs.Listed:
		return named(inv.in.Taint, oneOf(listing(args))), true
	case programs.Named:
		return named(inv.in.Taint, oneOf(args.operands)), true
	case programs.Matching:
		if !args.has("-l", "-L", "--files", "--files-with-matches", "--files-without-match") {
			return pr.selected(inv, args), len(args.afterScript(args.operands)) == 0
		}
		return named(inv.in.Taint, oneOf(below(searched(args)))), true
	case programs.Sought:
		var items []word
		for _, w := range args.operands {
			items = append(items, word{text: "$(…)/" + strings.TrimPrefix(w.text, "/"), glob: w.glob})
		}
		return named(inv.in.Taint, items), true
	case programs.Selected:
		return pr.selected(inv, args), true
	}
	return stream{}, false
}

// searched are the files and folders that a search for text goes through.
func searched(args *arguments) []word {
	words := args.operands
	if !args.has("--files") {
		words = args.afterScript(words)
	}
	if len(words) == 0 {
		return []word{known(".")}
	}
	return words
}

// below are names, and all that may lie below them.
func below(words []word) []word {
	var out []word
	for _, w := range words {
		out = append(out, w)
		if path.Ext(w.text) == "" && !w.glob {
			out = append(out, joined(w, "**/*"), joined(w, "*"))
		}
	}
	return out
}

// listing are the names that "ls" writes: those of its operands that are files, and
// the names in the others, as seen from there.
func listing(args *arguments) []word {
	words := args.operands
	if args.has("-d", "--directory") && len(words) > 0 {
		return words
	}
	return append(words[:len(words):len(words)], word{text: "*", known: true, glob: true})
}

// selected are the lines that a filter lets pass: some of those that it reads.
func (pr *printer) selected(inv *invocation, args *arguments) stream {
	in := inv.in
	for _, w := range args.operands {
		if s, ok := pr.holds(w, inv.in, inv.sc, inv.sc); ok {
			in = s
		}
	}
	out := named(in.Taint.With(pr.inputTaint(inv, args)), in.names())
	out.over = in.over
	return out
}

// completions are the names that "compgen" writes.
func completions(args *arguments) stream {
	var items []word
	for _, o := range args.options {
		if o.name == "-G" || o.name == "-W" {
			w := o.value
			w.glob = true
			items = append(items, w)
		}
	}
	if args.has("-f", "-d", "-A") {
		for _, w := range args.operands {
			w.text, w.glob = w.text+"*", true
			items = append(items, w)
		}
	}
	return named(value.Taint{}, items)
}
