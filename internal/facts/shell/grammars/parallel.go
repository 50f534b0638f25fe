package grammars

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (rd *Reader) parallel(_ string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	argv := args.Rest
	var items []word.Word
	for i, w := range argv {
		if strings.HasPrefix(w.Text, ":::") {
			argv, items = argv[:i], argv[i+1:]
			break
		}
	}
	if items == nil && len(argv) == 0 && inv.In.Present {
		return rd.Text("parallel", inv, inv.In.Word(), inv.Scope.Fork()), true // a command a line
	}
	if items == nil && inv.In.Present {
		items = rd.InputWords(inv.In)
	}
	if len(argv) == 0 {
		for _, w := range items {
			rd.Text("parallel", inv, w, inv.Scope.Fork())
		}
		return call.Result{Out: word.Unknown(value.Taint{})}, true
	}
	code := word.Join(argv, " ")
	if slices.ContainsFunc(items, func(w word.Word) bool { return !w.Known }) {
		if text, ok := rd.quoteItems(code, args, inv.Scope); ok {
			return rd.runItems(text, items, inv), true
		}
		rd.Hide()
	}
	if strings.Contains(code.Text, "{}") {
		return rd.Text("parallel", inv, word.Join(substitute(argv, "{}", items), " "), inv.Scope.Fork()), true
	}
	return rd.Text("parallel", inv, word.Join(append(slices.Clone(argv), items...), " "), inv.Scope.Fork()), true
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

// quoteItems is a command with a variable in the places of items, which are each one word of it.
func (rd *Reader) quoteItems(code word.Word, args *call.Arguments, sc *state.Scope) (word.Word, bool) {
	isOther := func(flag string) bool { return !slices.Contains(optionsOfOrder, flag) }
	if _, set := rd.Value("PARALLEL", sc); set || !code.Known || slices.ContainsFunc(args.Flags, isOther) {
		return word.Word{}, false
	}
	quoted := `"` + quotedItem + `"`
	if placesOfItems.MatchString(code.Text) {
		code.Text = placesOfItems.ReplaceAllLiteralString(code.Text, quoted)
	} else {
		code.Text += " " + quoted
	}
	return code, plainCommand.MatchString(code.Text)
}

// runItems runs a command once for each item.
func (rd *Reader) runItems(code word.Word, items []word.Word, inv *call.Invocation) call.Result {
	var all call.Result
	for _, item := range items {
		sc := inv.Scope.Fork()
		sc.Set(quotedItem[1:], state.Variable{List: []word.Word{item}})
		all = call.Sequence(all, rd.Text("parallel", inv, code, sc))
	}
	return all
}
