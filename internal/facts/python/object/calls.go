package object

import (
	"path"
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// ReadsProgram says whether a command takes what it runs from its input.
func ReadsProgram(words []string) bool {
	if !programReaders.MatchString(path.Base(words[0])) {
		return false
	}
	for _, word := range words[1:] {
		if word == "-c" || word == "-e" || word == "-m" {
			return false
		}
	}
	return true
}

// Truth is what a keyword's value says; sure is false if that is not known.
func Truth(vs Objects) (yes, sure bool) {
	if len(vs) == 0 {
		return false, true
	}
	for i, v := range vs {
		is := v.Shape == IsSymbol && v.Text == "True" || v.Shape == IsInt && v.Number != 0
		no := v.Shape == IsSymbol && (v.Text == "False" || v.Text == "None") || v.Shape == IsInt && v.Number == 0
		if !is && !no || i > 0 && is != yes {
			return yes || is, false
		}
		yes = is
	}
	return yes, true
}

func IsNone(vs Objects) bool {
	return len(vs) == 1 && vs[0].Shape == IsSymbol && vs[0].Text == "None"
}

// OnlyOpen says that not even a list's first item is known to be its first.
func OnlyOpen(list Object) bool { return len(list.Items) == 1 && len(list.Items[0]) > 1 }

// EnvironmentOf writes the variables that a call sets before its command.
func EnvironmentOf(c *Call) string {
	var b strings.Builder
	for _, v := range c.Keywords["env"] {
		for i := 0; v.Shape == IsDict && i+1 < len(v.Items); i += 2 {
			name, ok := v.Items[i].Only()
			if !ok || !bailiff.IsVariable(name) {
				continue
			}
			value := Hole(name)
			if len(v.Items[i+1]) == 1 {
				value = v.Items[i+1][0].Str()
			}
			b.WriteString(name + "=" + ShellWord(value) + " ")
		}
	}
	return b.String()
}

var programReaders = regexp.MustCompile(`^(ba|da|z|k|a|fi)?sh$|^(python|perl|ruby|node|php|lua|pypy)[0-9.]*$|` +
	`^(ssh|sudo|env|nohup|busybox|psql|mysql|sqlite3|xargs|at|batch|crontab|docker|kubectl)$`)
