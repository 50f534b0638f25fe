package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// ProgramFile reads the file that an option or a variable names for a program to run.
func (a *analysis) ProgramFile(name string, w word.Word, inv *call.Invocation) {
	p := a.RunFile(w, inv.Scope)
	s, ok := a.Program(p, a.FileAt(w, inv.Scope))
	switch lang := a.about(name).Language; {
	case !ok:
		a.endings(name, lang, inv, w)
	case lang == "":
		a.NoteRun(s.Taint)
	case lang == "shell":
		a.streamText(name, inv, s, inv.Scope.Fork())
	case s.OnDisk:
		a.ReadIn(s, func() { a.foundProgram(name, lang, inv, s) })
	default:
		a.inline(name, lang, inv, s.Word())
	}
}

// startsSought reads the program of a name in a folder of a PATH that the text sets. One that it wrote may call its own name.
func (a *analysis) startsSought(inv *call.Invocation, folder word.Word, name string) {
	if below, here := strings.CutPrefix(folder.Text, "$PWD/"); here && inv.Scope.Folder == "" && !inv.Scope.Astray {
		folder.Text = below
	}
	file := word.InFolder(folder, name)
	p := a.Path(file, inv.Scope)
	if slices.Contains(a.seeking, p) {
		return
	}
	a.seeking = append(a.seeking, p)
	defer func() { a.seeking = a.seeking[:len(a.seeking)-1] }()
	if a.IsDownloaded(p) {
		a.NoteRun(value.Taint{Fetched: true})
	}
	if s, ok := a.Program(p, a.FileAt(file, inv.Scope)); ok && s.OnDisk {
		s.Settled = s.Settled || strings.Contains(p, "/node_modules/") // a package manager put it there
		a.ReadIn(s, func() { a.startsFound(inv, p, s) })
	} else if ok {
		a.startsFile(inv, p, s)
	}
}

// startingBeside is a call whose programs are looked for in a folder of the project first.
func (a *analysis) startingBeside(name string, inv *call.Invocation) *call.Invocation {
	folder := a.about(name).Own.Beside
	if folder == "" {
		return inv
	}
	there := *inv
	there.Scope = inv.Scope.Fork()
	rest := word.Of("$PATH")
	if v, set := a.Value("PATH", inv.Scope); set {
		rest = v
	}
	rest.Text = a.FileAt(word.Of(folder), inv.Scope) + ":" + rest.Text
	there.Scope.Set("PATH", state.Variable{List: []word.Word{rest}})
	return &there
}

// importsFound reads the modules that a program found in a file imports from beside it, and
// notes where they may lie. Without such a program they lie in the working folder.
func (a *analysis) importsFound(name, lang string, inv *call.Invocation, imported []string) {
	if lang == "python" {
		a.importsPython(name, inv, imported)
		return
	}
	folder := a.FolderAt(word.Of("."), inv.Scope)
	if file, ok := a.Innermost(); ok {
		folder = overlay.FolderOf(file)
	}
	for _, module := range imported {
		a.importsFrom(name, lang, inv, folder, module)
	}
}

// importsPython reads the modules of a Python program: one that another imports lies beside the program which is run, a relative one
// beside the other.
func (a *analysis) importsPython(name string, inv *call.Invocation, imported []string) {
	folders := a.modulePath
	if len(folders) == 0 {
		folders = []string{a.FolderAt(word.Of("."), inv.Scope)}
	}
	own := folders
	if a.inModule {
		file, _ := a.Innermost()
		own = a.FoldersOf(file)
	}
	for _, folder := range folders {
		a.library(name, inv, folder)
	}
	for _, module := range imported {
		if value.EverLoaded[module] {
			continue
		}
		from := own
		if !strings.HasPrefix(module, ".") {
			from = value.Sorted(slices.Concat(own, folders))
		}
		for _, folder := range from {
			a.importsFrom(name, "python", inv, folder, module)
		}
	}
}

// importsFrom reads a module that lies in a folder.
func (a *analysis) importsFrom(name, lang string, inv *call.Invocation, folder, module string) {
	for _, file := range languages.ModuleFiles(lang, module) {
		if word.IsRooted(file) {
			folder = ""
		}
		a.importsFile(name, lang, inv, value.Tidy(folder+"/"+file))
	}
}

// endings reads the files for which a program of Node's may take a name without an ending.
func (a *analysis) endings(name, lang string, inv *call.Invocation, w word.Word) {
	if lang == "node" && w.Known {
		a.importsFrom(name, lang, inv, "", a.FileAt(w, inv.Scope))
	}
}

// importsFile reads a module, once.
func (a *analysis) importsFile(name, lang string, inv *call.Invocation, file string) {
	if slices.Contains(a.imported, file) || !a.Spend(1) {
		return
	}
	a.imported, a.LookUps = append(a.imported, file), append(a.LookUps, file)
	if a.At.Contents == nil {
		return
	}
	if s, ok := a.Program(a.At.Path(file, ""), file); ok && s.OnDisk {
		inModule := a.inModule
		a.inModule = lang == "python"
		a.ReadIn(s, func() { a.foundProgram(name, lang, inv, s) })
		a.inModule = inModule
	}
}

// projectOf are the arguments of a call that works on a project, and the scope of the folder
// in which that lies.
func (a *analysis) projectOf(p *programs.Program, inv *call.Invocation, args *call.Arguments) (*state.Scope, *call.Arguments) {
	if len(p.Chdir) == 0 || !slices.ContainsFunc(args.All, func(w word.Word) bool { return names(p.Chdir, w.Text) }) {
		return inv.Scope, args
	}
	options := programs.Options{}
	for _, o := range p.Chdir {
		options[o] = programs.Plain
	}
	args = call.ParseArguments(args.All, &programs.Program{Options: options})
	folder, ok := args.Value(p.Chdir...)
	if !ok {
		return inv.Scope, args
	}
	return a.ScopeIn(folder, inv.Scope), args
}

// names says that a word is one of some options, with or without a value.
func names(options []string, word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return slices.Contains(options, name)
}
