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
	argv, files := args.Rest, []word.Word{}
	var items []word.Word
	for i, w := range argv {
		switch {
		case !strings.HasPrefix(w.Text, ":::"):
			continue
		case strings.HasPrefix(w.Text, "::::"):
			files = argv[i+1:]
		default:
			items = argv[i+1:]
		}
		argv = argv[:i]
		break
	}
	if file, ok := args.Value("-a", "--arg-file"); ok {
		files = append(files, file)
	}
	in := rd.listed(files, inv)
	if items == nil && len(argv) == 0 && in.Present {
		return rd.Text("parallel", inv, in.Word(), inv.Scope.Fork()), true // a command a line
	}
	if items == nil && in.Present {
		items = rd.InputWords(in)
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

// listed are the lines that files hold, which run where no command is given; without files those of the input.
func (rd *Reader) listed(files []word.Word, inv *call.Invocation) word.Stream {
	if len(files) == 0 {
		return inv.In
	}
	var all word.Stream
	for _, file := range files {
		rd.RunFile(file, inv.Scope)
		if s, ok := rd.ProgramIn(file, inv.In, inv.Scope); ok && all.Present {
			all = all.Then(s)
		} else if ok {
			all = s
		}
	}
	return all
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
