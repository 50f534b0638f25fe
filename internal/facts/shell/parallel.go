package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (a *analysis) parallel(_ string, inv *invocation, args *arguments) (result, bool) {
	argv := args.rest
	var items []word
	for i, w := range argv {
		if strings.HasPrefix(w.text, ":::") {
			argv, items = argv[:i], argv[i+1:]
			break
		}
	}
	if items == nil && len(argv) == 0 && inv.in.present {
		return a.text("parallel", inv, inv.in.word(), inv.sc.fork()), true // a command a line
	}
	if items == nil && inv.in.present {
		items = a.inputWords(inv.in)
	}
	if len(argv) == 0 {
		for _, w := range items {
			a.text("parallel", inv, w, inv.sc.fork())
		}
		return result{out: unknown(value.Taint{})}, true
	}
	code := join(argv, " ")
	if text, ok := withQuoted(code, args); ok && slices.ContainsFunc(items, func(w word) bool { return !w.known }) {
		return a.eachQuoted(text, items, inv), true
	}
	if strings.Contains(code.text, "{}") {
		return a.text("parallel", inv, join(substitute(argv, "{}", items), " "), inv.sc.fork()), true
	}
	return a.text("parallel", inv, join(append(slices.Clone(argv), items...), " "), inv.sc.fork()), true
}

// placesOfItems are where parallel puts an item, or a part of it. It quotes them for the shell.
var placesOfItems = regexp.MustCompile(`\{(|[./#%]|//|/\.|[0-9]+[./]{0,2})\}`)

// quotedItem is the variable that stands for an item in the text of a command.
const quotedItem = "$parallel_item"

// withQuoted is a command with a variable in the places of items, which are each one word of it. A command with expressions of
// Perl, or items that are not quoted, is another matter.
func withQuoted(code word, args *arguments) (word, bool) {
	if !code.known || args.has("--rpl", "--tmpl", "-U", "--parens") || strings.Contains(code.text, "{=") ||
		strings.Contains(code.text, quotedItem) {
		return word{}, false
	}
	quoted := `"` + quotedItem + `"`
	if mark, own := args.value("-I"); own && mark.text != "" {
		code.text = strings.ReplaceAll(code.text, mark.text, quoted)
	} else if placesOfItems.MatchString(code.text) {
		code.text = placesOfItems.ReplaceAllLiteralString(code.text, quoted)
	} else {
		code.text += " " + quoted
	}
	return code, true
}

// eachQuoted runs a command once for each item.
func (a *analysis) eachQuoted(code word, items []word, inv *invocation) result {
	var all result
	for _, item := range items {
		sc := inv.sc.fork()
		sc.set(quotedItem[1:], variable{list: []word{item}})
		all = a.following(all, a.text("parallel", inv, code, sc))
	}
	return all
}
