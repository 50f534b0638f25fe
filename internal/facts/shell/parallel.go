package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (rd *reader) parallel(_ string, inv *invocation, args *arguments) (result, bool) {
	argv := args.rest
	var items []word
	for i, w := range argv {
		if strings.HasPrefix(w.text, ":::") {
			argv, items = argv[:i], argv[i+1:]
			break
		}
	}
	if items == nil && len(argv) == 0 && inv.in.present {
		return rd.text("parallel", inv, inv.in.word(), inv.sc.fork()), true // a command a line
	}
	if items == nil && inv.in.present {
		items = rd.inputWords(inv.in)
	}
	if len(argv) == 0 {
		for _, w := range items {
			rd.text("parallel", inv, w, inv.sc.fork())
		}
		return result{out: unknown(value.Taint{})}, true
	}
	code := join(argv, " ")
	if slices.ContainsFunc(items, func(w word) bool { return !w.known }) {
		if text, ok := rd.withQuoted(code, args, inv.sc); ok {
			return rd.eachQuoted(text, items, inv), true
		}
		rd.hide()
	}
	if strings.Contains(code.text, "{}") {
		return rd.text("parallel", inv, join(substitute(argv, "{}", items), " "), inv.sc.fork()), true
	}
	return rd.text("parallel", inv, join(append(slices.Clone(argv), items...), " "), inv.sc.fork()), true
}

// Of a command of plain words, with no options but such that change nothing of it, it is clear where parallel puts its items: it
// quotes each for the shell. Marks of one's own, expressions of Perl, profiles and quotes around a place are another matter.
var (
	placesOfItems  = regexp.MustCompile(`\{(|[./#%]|//|/\.|-?[0-9]+[./]{0,2})\}`)
	plainCommand   = regexp.MustCompile(`^[A-Za-z0-9_./]+( [A-Za-z0-9_./:,%+~-]*("\$parallel_item"[A-Za-z0-9_./:,%+~-]*)*)*$`)
	optionsOfOrder = []string{"-j", "--jobs", "-k", "--keep-order", "-0", "--null", "--bar", "--eta", "--progress", "--tag", "-n", "-N",
		"-a"}
)

// quotedItem is the variable that stands for an item in the text of a command.
const quotedItem = "$parallel_item"

// withQuoted is a command with a variable in the places of items, which are each one word of it.
func (rd *reader) withQuoted(code word, args *arguments, sc *scope) (word, bool) {
	isOther := func(flag string) bool { return !slices.Contains(optionsOfOrder, flag) }
	if _, set := rd.value("PARALLEL", sc); set || !code.known || slices.ContainsFunc(args.flags, isOther) {
		return word{}, false
	}
	quoted := `"` + quotedItem + `"`
	if placesOfItems.MatchString(code.text) {
		code.text = placesOfItems.ReplaceAllLiteralString(code.text, quoted)
	} else {
		code.text += " " + quoted
	}
	return code, plainCommand.MatchString(code.text)
}

// eachQuoted runs a command once for each item.
func (rd *reader) eachQuoted(code word, items []word, inv *invocation) result {
	var all result
	for _, item := range items {
		sc := inv.sc.fork()
		sc.set(quotedItem[1:], variable{list: []word{item}})
		all = following(all, rd.text("parallel", inv, code, sc))
	}
	return all
}
