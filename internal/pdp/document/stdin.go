package document

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts"
)

// shell reads what a request would do with its shell text. What comes on
// standard input counts as well, since a shell may read its program there: it is
// read as a here-document around the command. Where that tells nothing, what
// runs stays hidden.
func shell(a bailiff.Args, place facts.Place) facts.Command {
	plain := facts.Shell(a.Command, place)
	if a.Stdin == "" || !plain.Parsed {
		return plain
	}
	fed := facts.Shell(around(a.Command, a.Stdin), place)
	if !fed.Parsed {
		plain.Complete = false
		return plain
	}
	fed.Text = a.Command
	if !slices.Contains(plain.Features, facts.FeatureHeredoc) {
		fed.Features = slices.DeleteFunc(fed.Features, func(f string) bool { return f == facts.FeatureHeredoc })
	}
	return fed
}

// around puts a here-document around a command; its end is a line that the text
// does not hold.
func around(command, text string) string {
	end := "END"
	for strings.Contains(text, end) || strings.Contains(command, end) {
		end += "_"
	}
	return "{ " + command + "\n} <<'" + end + "'\n" + text + "\n" + end + "\n"
}
