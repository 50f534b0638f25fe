package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// foundIn is what was found in a file, by its path as it is to be opened. A file that is being
// read is not read again.
func (a *analysis) foundIn(file string) (stream, bool) {
	if a.at.Contents == nil || slices.Contains(a.around(), file) {
		return stream{}, false
	}
	c, ok := (*a.at.Contents)[file]
	if above := a.aboveMade(file); !ok && above != file {
		return a.foundIn(above)
	}
	if c.Folder {
		return stream{}, false
	}
	return stream{present: true, text: c.Text, known: c.Known, file: file, found: ok, settled: !c.Recent}, ok
}

// around are the files that the text lies in.
func (a *analysis) around() []string {
	if a.at.Within == nil {
		return a.within
	}
	return slices.Concat(*a.at.Within, a.within)
}

// reading reads what a stream runs. If it was found in a file that is settled, a part whose
// meaning its text does not tell hides nothing: it is a part of the project like any other. That
// does not hold for a young file that it runs.
func (a *analysis) reading(s stream, read func()) {
	if !s.found {
		read()
		return
	}
	settled := a.settled
	a.settled, a.within = s.settled, append(a.within, s.file)
	read()
	a.settled, a.within = settled, a.within[:len(a.within)-1]
}

// isElsewhere says that a stream comes from a file whose content is not known here.
func (s stream) isElsewhere() bool { return s.path != "" && !s.found && !wild(s.path) }

// foundProgram reads a program that was found in a file. Of a language that is not read, its
// shell texts are.
func (a *analysis) foundProgram(name, lang string, inv *invocation, s stream) {
	if !a.readsProgram(s.word()) {
		return
	}
	if lang == "python" {
		if c := a.python(name, inv, s.text); !a.settled && c.Complete {
			a.programs(c)
		}
		return
	}
	if lang == "perl" && onlySubstitutes(s.text) {
		return
	}
	a.hide()
	a.importsFound(name, lang, inv, loaded(lang, s.text))
	commands, _ := shellInside(lang, s.text)
	for _, c := range commands {
		a.text(name, inv, known(c), inv.sc.fork())
	}
}

// startsFound reads a program that was found in a file and is started by its path.
func (a *analysis) startsFound(inv *invocation, p string, s stream) {
	script, shell := shellScript(s)
	if shell {
		sc := inv.sc.fork()
		sc.name, sc.args, sc.argsKnown = inv.argv[0], inv.argv[1:], true
		sc.inFile(s, func() { a.nested(script, sc, append(slices.Clip(inv.wrappers), path.Base(p)), inv.in) })
		return
	}
	lang := firstLanguage(s.text)
	started := *inv
	if lang != "" {
		started.argv = append([]word{known(lang)}, inv.argv...)
		started.wrappers = append(slices.Clip(inv.wrappers), path.Base(p))
		a.record(&started, lang, a.argumentsOf(lang, started.argv[1:]))
	}
	if words := firstLine(s.text); lang == "" && s.known && len(words) > 0 {
		a.startsByLine(inv, p, words)
	}
	a.foundProgram(path.Base(p), lang, &started, s)
}

// startsByLine reads the program that the first line of a file names, with the file as its
// argument, which it may read.
func (a *analysis) startsByLine(inv *invocation, p string, words []string) {
	started := *inv
	started.argv, started.direct = nil, true
	for _, w := range words {
		started.argv = append(started.argv, known(w))
	}
	started.argv = append(started.argv, inv.argv...)
	started.wrappers = append(slices.Clip(inv.wrappers), path.Base(p))
	within := a.within
	a.within = slices.Clip(within[:len(within)-1])
	a.invoke(started)
	a.within = within
}

// firstLine are the words by which a file says which program runs it.
func firstLine(text string) []string {
	line, _, _ := strings.Cut(text, "\n")
	after, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil
	}
	return strings.Fields(after)
}

// firstLanguage is the language that the first line of a program names.
func firstLanguage(text string) string {
	for _, word := range firstLine(text) {
		if lang := programs.Interpreter(path.Base(word)); lang != "" {
			return lang
		}
	}
	return ""
}
