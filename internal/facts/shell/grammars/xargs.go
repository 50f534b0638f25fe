package grammars

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// xargs runs its command with words from its input.
func (rd *Reader) xargs(_ string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	argv := slices.Clone(args.Rest)
	if len(argv) == 0 {
		argv = []word.Word{word.Of("echo")}
	}
	from, given := inv.In, false
	if list, ok := args.Value("-a", "--arg-file"); ok {
		from, given = rd.Source(list, inv.In, inv.Scope), true
	}
	items, fed := rd.InputWords(from), *inv
	if placeholder, ok := args.Value("-I", "--replace"); ok || args.Has("-i") {
		mark := cmp.Or(placeholder.Text, "{}")
		if from.Known {
			items = rd.linesOf(from)
		}
		if !given {
			fed.In = word.Stream{}
		}
		return rd.foreach("xargs", &fed, argv, mark, items), true
	}
	if !given {
		fed.In = word.Stream{}
	}
	return rd.Inner("xargs", &fed, append(argv, items...)), true
}

// foreach runs a command once for each item, which stands where the placeholder does.
func (rd *Reader) foreach(name string, inv *call.Invocation, argv []word.Word, mark string, items []word.Word) call.Result {
	var all call.Result
	for i, item := range items {
		one := *inv
		one.Argv = substitute(argv, mark, []word.Word{item})
		if i > 0 && slices.EqualFunc(one.Argv, argv, func(x, y word.Word) bool { return x.Text == y.Text }) {
			break
		}
		all = call.Sequence(all, rd.Inner(name, &one, one.Argv))
	}
	return all
}

// linesOf are the lines of an input.
func (rd *Reader) linesOf(in word.Stream) []word.Word {
	var out []word.Word
	for _, line := range strings.Split(strings.TrimRight(strings.ReplaceAll(in.Text, "\x00", "\n"), "\n"), "\n") {
		if len(out) >= word.MaxFields || !rd.Spend(1) {
			rd.Complete = false
			break
		}
		out = append(out, word.Word{Text: strings.Trim(strings.TrimSpace(line), `"'`), Known: true, Taint: in.Taint})
	}
	return out
}

// substitute puts items where the placeholder stands: each makes a word of its own, but in a word
// with a space, which is a text, all of them stand together.
func substitute(argv []word.Word, mark string, items []word.Word) []word.Word {
	all := []word.Word{word.Join(items, " ")}
	var out []word.Word
	for _, w := range argv {
		instead := items
		switch {
		case !strings.Contains(w.Text, mark):
			out = append(out, w)
			continue
		case strings.ContainsAny(w.Text, " \n\t;|&"):
			instead = all
		}
		for _, item := range instead {
			v := w
			v.Text = strings.ReplaceAll(w.Text, mark, item.Text)
			v.Known, v.Glob = w.Known && item.Known, w.Glob || item.Glob
			v.Taint = w.Taint.With(item.Taint)
			out = append(out, v)
		}
	}
	return out
}
