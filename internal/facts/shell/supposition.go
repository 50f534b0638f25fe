package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

const (
	// maxStarts is how many words of one call are supposed to be programs that it starts.
	maxStarts = 3
	// maxSupposed is how many calls and texts are supposed in one text.
	maxSupposed = 64
)

// suppose reads the words of a program that nothing describes as calls, where one of them
// names a program: the program may start it.
func (a *analysis) suppose(name string, inv *call.Invocation) {
	if a.Supposes || a.About(name).Explained {
		return
	}
	words := inv.Argv[1:]
	found := 0
	for i := 0; i < len(words) && found < maxStarts; i++ {
		if code, ok := optionText(words, i); ok {
			a.supposeText(name, inv, code)
			continue
		}
		started, ok := programAt(words, i)
		if !ok {
			continue
		}
		found++
		a.supposeCall(name, inv, words[i:])
		if endsWords(started) {
			return
		}
	}
}

// programAt is the name of a program that another one may start, if a word is one. The last word
// counts only behind the end of the options, since it is most often the name of a thing; or as the path of a shell.
func programAt(words []word.Word, at int) (name string, ok bool) {
	name, ok = call.ProgramName(words[at])
	if !ok || !programs.Starts(name) {
		return "", false
	}
	systems := overlay.IsSystemFolder(path.Dir(words[at].Text))
	if at == len(words)-1 && (at == 0 || words[at-1].Text != "--") && !(systems && programs.Of(name).Language == "shell") {
		return "", false
	}
	return name, systems || !strings.Contains(words[at].Text, "/")
}

// endsWords says that the words after a program start nothing.
func endsWords(name string) bool {
	operands := programs.Description(name).Operands
	return operands == programs.Text || operands == programs.Script
}

// optionText is a word that an option hands to a shell, as "-c" does: several words, of
// which the first names a program.
func optionText(words []word.Word, at int) (code word.Word, ok bool) {
	option, value, attached := strings.Cut(words[at].Text, "=")
	switch {
	case !strings.HasPrefix(option, "-") || !saysCommand(strings.TrimLeft(option, "-")):
		return word.Word{}, false
	case attached:
		code = word.Part(words[at], value)
	case at+1 < len(words):
		code = words[at+1]
	}
	code = word.Part(code, ownStarter.ReplaceAllString(strings.TrimSpace(code.Text), ""))
	first, _, several := strings.Cut(code.Text, " ")
	return code, several && code.Known && (programs.Starts(first) || strings.ContainsAny(first, "$=(;"))
}

// ownStarter is the word by which a program's own language hands the rest to a shell.
var ownStarter = regexp.MustCompile(`^(?::?\s*!+|:?\s*(?:\w+\s+)?(?:shell|spawn|system|exec(?:ute)?)\s+(?:-\S+\s+)*)\s*`)

// saysCommand says whether an option's name tells that its value is a command.
func saysCommand(option string) bool {
	switch option {
	case "c", "e", "x", "s", "r", "E":
		return true
	}
	option = strings.ToLower(option)
	return strings.HasPrefix(option, "on-") || slices.ContainsFunc(commanding, func(part string) bool {
		return strings.Contains(option, part)
	})
}

var commanding = []string{"command", "cmd", "exec", "run", "shell", "script", "hook", "filter", "program", "callback", "launch", "start"}

// supposeCall reads words as a call.
func (a *analysis) supposeCall(name string, inv *call.Invocation, argv []word.Word) {
	if b := a.sideReading(); b.supposals < maxSupposed {
		b.supposals++
		in := *inv
		in.Scope, in.Number = inv.Scope.Fork(), 0
		b.Inner(name, &in, argv)
		a.Charge(b.Budget)
	}
}

// supposeText reads a word as shell text, if it is that.
func (a *analysis) supposeText(name string, inv *call.Invocation, code word.Word) {
	if b := a.sideReading(); b.supposals < maxSupposed {
		b.supposals++
		b.Text(name, inv, code, inv.Scope.Fork())
		a.Charge(b.Budget)
	}
}

// sideReading is the reading of the words that are supposed to be commands.
func (a *analysis) sideReading() *analysis {
	if a.supposed == nil {
		a.supposed = newAnalysis(a.At, a.ReadPython)
		a.supposed.Supposes, a.supposed.Complete = true, false
	}
	b := a.supposed
	b.TakeOver(a.FS)
	b.Resume(a.Budget)
	b.Temps = a.Temps
	return b
}

// Suppose notes what another reading supposed to run.
func (a *analysis) Suppose(c *value.Command, wrappers []string) {
	a.sideReading().TakeReading(c, wrappers)
}

// sideFacts are the facts of the supposed calls, nil without any.
func (a *analysis) sideFacts() *value.Command {
	if a.supposed == nil || len(a.supposed.Calls) == 0 {
		return nil
	}
	c := a.supposed.command("")
	said := make([]string, len(c.Calls))
	for i, call := range c.Calls {
		said[i] = strings.Join(call.Argv, " ")
	}
	c.Text, c.Complete = strings.Join(said, "\n"), true
	return &c
}
