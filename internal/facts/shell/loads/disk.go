package loads

import (
	"path"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/oneliner"
	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// readDiskProgram reads a program that was found in a file. Of a language that is not read, its
// shell texts are.
func (ld *Loader) readDiskProgram(name, lang string, inv *call.Invocation, s word.Stream) {
	ld.notePackages(lang, inv, s.Text)
	if !ld.Admit(s.Word()) {
		return
	}
	if lang == "python" {
		ld.readDiskPython(name, inv, s)
		return
	}
	if lang == "perl" && languages.OnlySubstitutes(s.Text) {
		return
	}
	bare := programs.Interpreter(word.Base(word.First(inv.Argv))) != "" || ld.About(name).Own.Bare
	if bare && ld.isPureFile(name, lang, inv, s, 0) {
		ld.readImports(name, lang, inv, languages.LoadNames(lang, s.Text))
		return
	}
	ld.hideProgram(name, lang, inv, s)
}

// readDiskPython reads a program of Python's, or a module of one.
func (ld *Loader) readDiskPython(name string, inv *call.Invocation, s word.Stream) {
	if before := ld.modulePath; !ld.inModule {
		ld.modulePath = ld.FoldersOf(s.File)
		defer func() { ld.modulePath = before }()
	}
	if c := ld.runPython(name, inv, s.Text); !ld.Settled && c.Complete {
		ld.notePython(c)
	}
}

// hideProgram reads the shell texts of a program in a language that is not read.
func (ld *Loader) hideProgram(name, lang string, inv *call.Invocation, s word.Stream) {
	ld.Hide()
	ld.readImports(name, lang, inv, languages.LoadNames(lang, s.Text))
	commands, _ := languages.ShellTexts(lang, s.Text)
	for _, c := range commands {
		ld.Text(name, inv, word.Of(c), inv.Scope.Fork())
	}
}

// maxLoads is how deep programs in files may load others.
const maxLoads = 4

// isPureFile says that a program in a file, with all that it loads, does nothing but compute, print and read and write files
// that it names, and notes these files.
func (ld *Loader) isPureFile(name, lang string, inv *call.Invocation, s word.Stream, depth int) bool {
	code, ok := languages.WithoutShebang(lang, s)
	if !ok || depth > maxLoads || !ld.Spend(1+len(code)/64) || depth == 0 && !languages.HasHarmlessOptions(ld.About(name).Language, inv) {
		return false
	}
	e, ok := oneliner.Read(lang, code)
	if !ok || e.Operands {
		return false
	}
	for _, module := range e.Loads {
		if more, ok := ld.moduleText(lang, s, module); !ok || !ld.isPureFile(name, lang, inv, more, depth+1) {
			return false
		}
	}
	ld.noteFiles(inv, e)
	return true
}

// moduleText is what was found in a file that another one loads. A folder may name a file of its own, so that it is none.
func (ld *Loader) moduleText(lang string, s word.Stream, module string) (word.Stream, bool) {
	for _, file := range languages.ModuleFiles(lang, module) {
		if more, ok := ld.Lookup(value.Tidy(path.Dir(s.File) + "/" + file)); ok {
			return more, path.Base(file) != "index.js"
		}
	}
	return word.Stream{}, false
}

// startDiskFile reads a program that was found in a file and is started by its path.
func (ld *Loader) startDiskFile(inv *call.Invocation, p string, s word.Stream) {
	script, shell := languages.ShellScript(s)
	if shell {
		sc := inv.Scope.Fork()
		sc.Name, sc.Args, sc.ArgsKnown = inv.Argv[0], inv.Argv[1:], true
		sc.InFile(s, func() { ld.Text(path.Base(p), inv, script, sc) })
		return
	}
	lang := languages.ShebangLanguage(s.Text)
	started := *inv
	if lang != "" {
		started.Argv = append([]word.Word{word.Of(lang)}, inv.Argv...)
		started.Wrappers = append(slices.Clip(inv.Wrappers), path.Base(p))
		ld.Record(&started, lang, grammars.Arguments(ld.About(lang), started.Argv[1:]))
	}
	if words := languages.ShebangWords(s.Text); lang == "" && s.Known && len(words) > 0 {
		ld.startByShebang(inv, p, words)
	}
	ld.readDiskProgram(path.Base(p), lang, &started, s)
}

// startByShebang reads the program that the first line of a file names, with the file as its
// argument, which it may read.
func (ld *Loader) startByShebang(inv *call.Invocation, p string, words []string) {
	started := *inv
	started.Argv, started.Direct = nil, true
	for _, w := range words {
		started.Argv = append(started.Argv, word.Of(w))
	}
	started.Argv = append(started.Argv, inv.Argv...)
	started.Wrappers = append(slices.Clip(inv.Wrappers), path.Base(p))
	ld.Outside(func() { ld.Invoke(started) })
}
