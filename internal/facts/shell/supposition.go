package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
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
	for _, w := range words {
		if w.Known && w.Source == nil {
			a.supposeSpoken(name, inv, languages.Spoken(w.Text), w.Taint)
		}
	}
	if inv.In.Known {
		a.supposeSpoken(name, inv, languages.Spoken(inv.In.Text), inv.In.Taint)
	}
	if isGivenCode(words) {
		a.NoteFeature(value.FeatureInlineProgram)
		a.NoteFeature(value.FeatureUnreadProgram)
	}
	found := 0
	for i := 0; i < len(words) && found < maxStarts; i++ {
		if code, ok := optionText(words, i); ok {
			a.supposeText(name, inv, code)
			continue
		}
		if w := words[i]; w.Known && (i == 0 || !strings.HasPrefix(words[i-1].Text, "-")) {
			a.supposeSpoken(name, inv, []string{w.Text}, w.Taint)
		}
		started, ok := programAt(words, i)
		if !ok {
			continue
		}
		found++
		a.SupposeCall(name, inv, words[i:])
		if endsWords(started) {
			return
		}
	}
}

// supposeProgram reads the texts in which a described program takes a language of its own: it may hand parts of them to a shell.
func (a *analysis) supposeProgram(name string, inv *call.Invocation, args *call.Arguments) {
	p := a.About(name).Own
	if a.Supposes || p.Language != "" || p.Grammar != "" {
		return
	}
	for _, o := range args.Options {
		if o.Value.Known && (slices.Contains(p.Texts, o.Name) || strings.Contains(o.Name, "eval")) {
			a.supposeSpoken(name, inv, languages.Spoken(o.Value.Text), o.Value.Taint)
		}
	}
	if slices.Contains(p.Texts, "operands") {
		for _, w := range word.After(args.Operands, 1) {
			a.supposeSpoken(name, inv, languages.Spoken(w.Text), w.Taint)
		}
	}
}

// supposeFiles reads the files that the text wrote and that nothing reads, before a program starts which runs what it finds.
func (a *analysis) supposeFiles(name string, inv *call.Invocation) {
	if a.Supposes || !a.HasWrites() || !runsWhatItFinds(a.About(name)) {
		return
	}
	for _, file := range a.WrittenPaths() {
		s := a.WrittenText(file)
		if s.Known && a.looked[file] != s.Text && !a.isRun(file) && a.Spend(1+len(s.Text)/256) {
			if a.looked == nil {
				a.looked = map[string]string{}
			}
			a.looked[file] = s.Text
			a.supposeSpoken(name, inv, languages.SpokenInFile(file, s.Text), s.Taint)
		}
	}
}

// isRun says that a file is read as a program already.
func (a *analysis) isRun(file string) bool {
	return slices.ContainsFunc(a.Files, func(spelt string) bool { return a.At.Path(spelt, "") == file })
}

// runsWhatItFinds says that a program may run what lies in files which its words do not name, or that nothing says what it does.
func runsWhatItFinds(e *programs.Entry) bool {
	p := e.Own
	if !e.Explained {
		return true
	}
	return len(p.Finds)+len(p.Verbs)+len(p.Gathers) > 0
}

// supposeSpoken reads those of some texts as a shell's that are a command of several words.
func (a *analysis) supposeSpoken(name string, inv *call.Invocation, texts []string, taint value.Taint) {
	for _, text := range texts {
		first, _, several := strings.Cut(text, " ")
		if several && programs.Starts(path.Base(first)) {
			a.supposeText(name, inv, word.Word{Text: text, Known: true, Taint: taint})
		}
	}
}

// isGivenCode says that a program evaluates a text among its words, which calls something.
func isGivenCode(words []word.Word) bool {
	for i, w := range words[:max(0, len(words)-1)] {
		switch w.Text {
		case "-e", "--eval", "-eval", "--evaluate", "eval":
			if computes.MatchString(words[i+1].Text) {
				return true
			}
		}
	}
	return false
}

var computes = regexp.MustCompile("\\w[!?]?\\s*\\(|`")

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
	case !typing[option] && (!strings.HasPrefix(option, "-") || !saysCommand(strings.TrimLeft(option, "-"))):
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

// typing are the first words by which programs type into another window or terminal, or have a command run there.
var typing = map[string]bool{"type": true, "send": true, "send-text": true, "send-keys": true, "exec": true, "spawn": true}

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

// SupposeCall reads words as a call that may be made.
func (a *analysis) SupposeCall(name string, inv *call.Invocation, argv []word.Word) {
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
