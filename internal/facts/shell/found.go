package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/oneliner"
	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// foundProgram reads a program that was found in a file. Of a language that is not read, its
// shell texts are.
func (a *analysis) foundProgram(name, lang string, inv *invocation, s stream) {
	a.packages(lang, inv, s.text)
	if !a.readsProgram(s.word()) {
		return
	}
	if lang == "python" {
		a.foundPython(name, inv, s)
		return
	}
	if lang == "perl" && onlySubstitutes(s.text) {
		return
	}
	bare := programs.Interpreter(base(first(inv.argv))) != "" || a.about(name).Own.Bare
	if bare && a.computesFound(name, lang, inv, s, 0) {
		a.importsFound(name, lang, inv, loaded(lang, s.text))
		return
	}
	a.hidesFound(name, lang, inv, s)
}

// foundPython reads a program of Python's, or a module of one.
func (a *analysis) foundPython(name string, inv *invocation, s stream) {
	if before := a.modulePath; !a.inModule {
		a.modulePath = a.foldersOf(s.file)
		defer func() { a.modulePath = before }()
	}
	if c := a.python(name, inv, s.text); !a.settled && c.Complete {
		a.programs(c)
	}
}

// hidesFound reads the shell texts of a program in a language that is not read.
func (a *analysis) hidesFound(name, lang string, inv *invocation, s stream) {
	a.hide()
	a.importsFound(name, lang, inv, loaded(lang, s.text))
	commands, _ := shellInside(lang, s.text)
	for _, c := range commands {
		a.text(name, inv, known(c), inv.sc.fork())
	}
}

// harmlessOptions are those of interpreters that change neither what a program in a file may do nor where it is from.
var harmlessOptions = value.SetOf("--test --watch --no-warnings -w")

// maxLoads is how deep programs in files may load others.
const maxLoads = 4

// computesFound says that a program in a file, with all that it loads, does nothing but compute, print and read and write files
// that it names, and notes these files.
func (a *analysis) computesFound(name, lang string, inv *invocation, s stream, depth int) bool {
	code, ok := withoutFirstLine(lang, s)
	if !ok || depth > maxLoads || !a.spend(1+len(code)/64) || depth == 0 && !plainlyStarted(a.about(name).Language, inv) {
		return false
	}
	e, ok := oneliner.Read(lang, code)
	if !ok || e.Operands {
		return false
	}
	for _, module := range e.Loads {
		if more, ok := a.loadedFile(lang, s, module); !ok || !a.computesFound(name, lang, inv, more, depth+1) {
			return false
		}
	}
	a.touches(inv, e)
	return true
}

// withoutFirstLine is the text of a program without the line that names its interpreter, if that is the one of the language
// and gets no options there.
func withoutFirstLine(lang string, s stream) (code string, ok bool) {
	switch lang {
	case "node", "perl", "lua":
	default:
		return "", false
	}
	words := firstLine(s.text)
	if len(words) == 0 {
		return s.text, s.known
	}
	_, code, _ = strings.Cut(s.text, "\n")
	last := words[len(words)-1]
	return code, s.known && programs.Interpreter(path.Base(last)) == lang && len(words) <= 2 && !strings.HasPrefix(last, "-")
}

// plainlyStarted says that the options before a program in a file are harmless. Those of a runner of tests are not looked at.
func plainlyStarted(lang string, inv *invocation) bool {
	for _, w := range inv.argv[min(1, len(inv.argv)):] {
		if lang == "" || !strings.HasPrefix(w.text, "-") {
			return true
		}
		if !harmlessOptions[w.text] {
			return false
		}
	}
	return true
}

// loadedFile is what was found in a file that another one loads. A folder may name a file of its own, so that it is none.
func (a *analysis) loadedFile(lang string, s stream, module string) (stream, bool) {
	for _, file := range moduleFiles(lang, module) {
		if more, ok := a.foundIn(value.Tidy(path.Dir(s.file) + "/" + file)); ok {
			return more, path.Base(file) != "index.js"
		}
	}
	return stream{}, false
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
	a.outside(func() { a.invoke(started) })
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
