package call

import (
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// TakesInput says whether a call takes its standard input for what the grammar says.
func TakesInput(p *programs.Program, args *Arguments) bool {
	if len(p.When) == 0 {
		return true
	}
	return slices.ContainsFunc(p.When, func(when string) bool {
		switch when {
		case "alone":
			return len(args.Operands) == 0
		case "named":
			return slices.ContainsFunc(args.Operands, func(w word.Word) bool { return w.Text != "-" })
		case "dash":
			return slices.ContainsFunc(args.All, func(w word.Word) bool { return w.Text == "-" })
		}
		return args.Has(when) || word.First(args.Operands).Text == when
	})
}
