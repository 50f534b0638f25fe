package shell

import (
	"path"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/oneliner"
	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// foundProgram reads a program that was found in a file. Of a language that is not read, its
// shell texts are.
func (a *analysis) foundProgram(name, lang string, inv *call.Invocation, s word.Stream) {
	a.packages(lang, inv, s.Text)
	if !a.Admit(s.Word()) {
		return
	}
	if lang == "python" {
		a.foundPython(name, inv, s)
		return
	}
	if lang == "perl" && languages.OnlySubstitutes(s.Text) {
		return
	}
	bare := programs.Interpreter(word.Base(word.First(inv.Argv))) != "" || a.about(name).Own.Bare
	if bare && a.computesFound(name, lang, inv, s, 0) {
		a.importsFound(name, lang, inv, languages.LoadNames(lang, s.Text))
		return
	}
	a.hidesFound(name, lang, inv, s)
}

// foundPython reads a program of Python's, or a module of one.
func (a *analysis) foundPython(name string, inv *call.Invocation, s word.Stream) {
	if before := a.modulePath; !a.inModule {
		a.modulePath = a.FoldersOf(s.File)
		defer func() { a.modulePath = before }()
	}
	if c := a.python(name, inv, s.Text); !a.Settled && c.Complete {
		a.programs(c)
	}
}

// hidesFound reads the shell texts of a program in a language that is not read.
func (a *analysis) hidesFound(name, lang string, inv *call.Invocation, s word.Stream) {
	a.Hide()
	a.importsFound(name, lang, inv, languages.LoadNames(lang, s.Text))
	commands, _ := languages.ShellTexts(lang, s.Text)
	for _, c := range commands {
		a.Text(name, inv, word.Of(c), inv.Scope.Fork())
	}
}

// maxLoads is how deep programs in files may load others.
const maxLoads = 4

// computesFound says that a program in a file, with all that it loads, does nothing but compute, print and read and write files
// that it names, and notes these files.
func (a *analysis) computesFound(name, lang string, inv *call.Invocation, s word.Stream, depth int) bool {
	code, ok := languages.WithoutShebang(lang, s)
	if !ok || depth > maxLoads || !a.Spend(1+len(code)/64) || depth == 0 && !languages.HasHarmlessOptions(a.about(name).Language, inv) {
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

// loadedFile is what was found in a file that another one loads. A folder may name a file of its own, so that it is none.
func (a *analysis) loadedFile(lang string, s word.Stream, module string) (word.Stream, bool) {
	for _, file := range languages.ModuleFiles(lang, module) {
		if more, ok := a.Lookup(value.Tidy(path.Dir(s.File) + "/" + file)); ok {
			return more, path.Base(file) != "index.js"
		}
	}
	return word.Stream{}, false
}

// startsFound reads a program that was found in a file and is started by its path.
func (a *analysis) startsFound(inv *call.Invocation, p string, s word.Stream) {
	script, shell := languages.ShellScript(s)
	if shell {
		sc := inv.Scope.Fork()
		sc.Name, sc.Args, sc.ArgsKnown = inv.Argv[0], inv.Argv[1:], true
		sc.InFile(s, func() { a.nested(script, sc, append(slices.Clip(inv.Wrappers), path.Base(p)), inv.In) })
		return
	}
	lang := languages.ShebangLanguage(s.Text)
	started := *inv
	if lang != "" {
		started.Argv = append([]word.Word{word.Of(lang)}, inv.Argv...)
		started.Wrappers = append(slices.Clip(inv.Wrappers), path.Base(p))
		a.record(&started, lang, a.argumentsOf(lang, started.Argv[1:]))
	}
	if words := languages.ShebangWords(s.Text); lang == "" && s.Known && len(words) > 0 {
		a.startsByLine(inv, p, words)
	}
	a.foundProgram(path.Base(p), lang, &started, s)
}

// startsByLine reads the program that the first line of a file names, with the file as its
// argument, which it may read.
func (a *analysis) startsByLine(inv *call.Invocation, p string, words []string) {
	started := *inv
	started.Argv, started.Direct = nil, true
	for _, w := range words {
		started.Argv = append(started.Argv, word.Of(w))
	}
	started.Argv = append(started.Argv, inv.Argv...)
	started.Wrappers = append(slices.Clip(inv.Wrappers), path.Base(p))
	a.Outside(func() { a.invoke(started) })
}
