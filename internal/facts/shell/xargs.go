package shell

import (
	"cmp"
	"slices"
	"strings"
)

// xargs runs its command with words from its input.
func (a *analysis) xargs(_ string, inv *invocation, args *arguments) (result, bool) {
	argv := slices.Clone(args.rest)
	if len(argv) == 0 {
		argv = []word{known("echo")}
	}
	from, given := inv.in, false
	if list, ok := args.value("-a", "--arg-file"); ok {
		from, given = a.fileStream(list, inv), true
	}
	items := a.inputWords(from)
	if placeholder, ok := args.value("-I", "--replace"); ok || args.has("-i") {
		mark := cmp.Or(placeholder.text, "{}")
		argv = substitute(argv, mark, items)
	} else {
		argv = append(argv, items...)
	}
	in := *inv
	if !given {
		in.in = stream{}
	}
	return a.inner("xargs", &in, argv), true
}

// inputWords are the words of an input, or one that stands for them.
func (a *analysis) inputWords(in stream) []word {
	a.whole(in)
	if in.items != nil {
		return in.items
	}
	if !in.known {
		return []word{{text: "$(…)", Taint: in.Taint}}
	}
	var out []word
	for _, s := range strings.Fields(strings.ReplaceAll(in.text, "\x00", " ")) {
		if len(out) >= maxFields || !a.spend(1) {
			a.complete = false
			break
		}
		out = append(out, word{text: strings.Trim(s, `"'`), known: true, Taint: in.Taint})
	}
	return out
}

// substitute puts items where the placeholder stands.
func substitute(argv []word, mark string, items []word) []word {
	value := join(items, " ")
	out := slices.Clone(argv)
	for i, w := range out {
		if strings.Contains(w.text, mark) {
			out[i].text = strings.ReplaceAll(w.text, mark, value.text)
			out[i].known, out[i].glob = w.known && value.known, w.glob || value.glob
			out[i].Taint = w.Taint.With(value.Taint)
		}
	}
	return out
}
