package shell

import "github.com/bailiff-dev/bailiff/internal/facts/value"

// screen starts a program in a window. What it is told to do in a session that is there is not read, nor are its settings.
func (a *analysis) screen(name string, inv *invocation, args *arguments) (result, bool) {
	query, asks := args.value("-Q")
	if asks && query.known && screenQueries[query.text] && len(args.rest) == 0 {
		return result{out: unknown(value.Taint{})}, true
	}
	if asks || args.has("-X") || namesSettings(args, "-c") {
		a.hide()
		return result{out: unknown(value.Taint{})}, true
	}
	if shell, given := args.value("-s"); given {
		a.inner(name, inv, []word{shell})
	}
	return a.prefixed(name, inv, args), true
}

// screenQueries are the questions to a session that change nothing where no word follows.
var screenQueries = value.SetOf("info lastmsg number time title windows")
