package shell

import (
	"cmp"
	"slices"
	"strings"
)

// xargs runs its command with words from its input.
func (rd *reader) xargs(_ string, inv *invocation, args *arguments) (result, bool) {
	argv := slices.Clone(args.rest)
	if len(argv) == 0 {
		argv = []word{known("echo")}
	}
	from, given := inv.in, false
	if list, ok := args.value("-a", "--arg-file"); ok {
		from, given = rd.fileStream(list, inv.in, inv.sc), true
	}
	items, fed := rd.inputWords(from), *inv
	if placeholder, ok := args.value("-I", "--replace"); ok || args.has("-i") {
		mark := cmp.Or(placeholder.text, "{}")
		if from.known {
			items = rd.linesOf(from)
		}
		if !given {
			fed.in = stream{}
		}
		return rd.foreach("xargs", &fed, argv, mark, items), true
	}
	if !given {
		fed.in = stream{}
	}
	return rd.inner("xargs", &fed, append(argv, items...)), true
}

// foreach runs a command once for each item, which stands where the placeholder does.
func (rd *reader) foreach(name string, inv *invocation, argv []word, mark string, items []word) result {
	var all result
	for i, item := range items {
		one := *inv
		one.argv = substitute(argv, mark, []word{item})
		if i > 0 && slices.EqualFunc(one.argv, argv, func(x, y word) bool { return x.text == y.text }) {
			break
		}
		all = following(all, rd.inner(name, &one, one.argv))
	}
	return all
}

// linesOf are the lines of an input.
func (rd *reader) linesOf(in stream) []word {
	var out []word
	for _, line := range strings.Split(strings.TrimRight(strings.ReplaceAll(in.text, "\x00", "\n"), "\n"), "\n") {
		if len(out) >= maxFields || !rd.spend(1) {
			rd.complete = false
			break
		}
		out = append(out, word{text: strings.Trim(strings.TrimSpace(line), `"'`), known: true, Taint: in.Taint})
	}
	return out
}

// substitute puts items where the placeholder stands: each makes a word of its own, but in a word
// with a space, which is a text, all of them stand together.
func substitute(argv []word, mark string, items []word) []word {
	all := []word{join(items, " ")}
	var out []word
	for _, w := range argv {
		instead := items
		switch {
		case !strings.Contains(w.text, mark):
			out = append(out, w)
			continue
		case strings.ContainsAny(w.text, " \n\t;|&"):
			instead = all
		}
		for _, item := range instead {
			v := w
			v.text = strings.ReplaceAll(w.text, mark, item.text)
			v.known, v.glob = w.known && item.known, w.glob || item.glob
			v.Taint = w.Taint.With(item.Taint)
			out = append(out, v)
		}
	}
	return out
}
