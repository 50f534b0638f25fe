package loads

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
func (ld *Loader) ProgramFile(name string, w word.Word, inv *call.Invocation) {
	p := ld.RunFile(w, inv.Scope)
	s, ok := ld.Program(p, ld.FileAt(w, inv.Scope))
	switch lang := ld.About(name).Language; {
	case !ok:
		ld.readWithEnding(name, lang, inv, w)
	case lang == "":
		ld.NoteRun(s.Taint)
	case lang == "shell":
		ld.ReadStream(name, inv, s, inv.Scope.Fork())
	case s.OnDisk:
		ld.ReadIn(s, func() { ld.readDiskProgram(name, lang, inv, s) })
	default:
		ld.ReadInline(name, lang, inv, s.Word())
	}
}

// startFromPath reads the program of a name in a folder of a PATH that the text sets. One that it wrote may call its own name.
func (ld *Loader) startFromPath(inv *call.Invocation, folder word.Word, name string) {
	if below, here := strings.CutPrefix(folder.Text, "$PWD/"); here && inv.Scope.Folder == "" && !inv.Scope.Astray {
		folder.Text = below
	}
	file := word.InFolder(folder, name)
	p := ld.Path(file, inv.Scope)
	if slices.Contains(ld.seeking, p) {
		return
	}
	ld.seeking = append(ld.seeking, p)
	defer func() { ld.seeking = ld.seeking[:len(ld.seeking)-1] }()
	if ld.IsDownloaded(p) {
		ld.NoteRun(value.Taint{Fetched: true})
	}
	if s, ok := ld.Program(p, ld.FileAt(file, inv.Scope)); ok && s.OnDisk {
		s.Settled = s.Settled || strings.Contains(p, "/node_modules/") // a package manager put it there
		ld.ReadIn(s, func() { ld.startDiskFile(inv, p, s) })
	} else if ok {
		ld.startOwnFile(inv, p, s)
	}
}

// WithProjectPath is a call whose programs are looked for in a folder of the project first.
func (ld *Loader) WithProjectPath(name string, inv *call.Invocation) *call.Invocation {
	folder := ld.About(name).Own.Beside
	if folder == "" {
		return inv
	}
	there := inv.WithScope(inv.Scope.Fork())
	rest := word.Of("$PATH")
	if v, set := ld.Value("PATH", inv.Scope); set {
		rest = v
	}
	rest.Text = ld.FileAt(word.Of(folder), inv.Scope) + ":" + rest.Text
	there.Scope.Set("PATH", state.Variable{List: []word.Word{rest}})
	return there
}

// readImports reads the modules that a program found in a file imports from beside it, and
// notes where they may lie. Without such a program they lie in the working folder.
func (ld *Loader) readImports(name, lang string, inv *call.Invocation, imported []string) {
	if lang == "python" {
		ld.readPythonImports(name, inv, imported)
		return
	}
	folder := ld.FolderAt(word.Of("."), inv.Scope)
	if file, ok := ld.Innermost(); ok {
		folder = overlay.FolderOf(file)
	}
	for _, module := range imported {
		ld.ReadModuleIn(name, lang, inv, folder, module)
	}
}

// readPythonImports reads the modules of a Python program: one that another imports lies beside the program which is run, a relative one
// beside the other.
func (ld *Loader) readPythonImports(name string, inv *call.Invocation, imported []string) {
	folders := ld.modulePath
	if len(folders) == 0 {
		folders = []string{ld.FolderAt(word.Of("."), inv.Scope)}
	}
	own := folders
	if ld.inModule {
		file, _ := ld.Innermost()
		own = ld.FoldersOf(file)
	}
	for _, folder := range folders {
		ld.shadowModules(name, inv, folder)
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
			ld.ReadModuleIn(name, "python", inv, folder, module)
		}
	}
}

// ReadModuleIn reads a module that lies in a folder.
func (ld *Loader) ReadModuleIn(name, lang string, inv *call.Invocation, folder, module string) {
	for _, file := range languages.ModuleFiles(lang, module) {
		if word.IsRooted(file) {
			folder = ""
		}
		ld.readModuleFile(name, lang, inv, value.Tidy(folder+"/"+file))
	}
}

// readWithEnding reads the files for which a program of Node's may take a name without an ending.
func (ld *Loader) readWithEnding(name, lang string, inv *call.Invocation, w word.Word) {
	if lang == "node" && w.Known {
		ld.ReadModuleIn(name, lang, inv, "", ld.FileAt(w, inv.Scope))
	}
}

// readModuleFile reads a module, once.
func (ld *Loader) readModuleFile(name, lang string, inv *call.Invocation, file string) {
	if slices.Contains(ld.imported, file) || !ld.Spend(1) {
		return
	}
	ld.imported, ld.LookUps, ld.Modules = append(ld.imported, file), append(ld.LookUps, file), append(ld.Modules, file)
	if ld.At.Contents == nil {
		return
	}
	if s, ok := ld.Program(ld.At.Path(file, ""), file); ok && s.OnDisk {
		inModule := ld.inModule
		ld.inModule = lang == "python"
		ld.ReadIn(s, func() { ld.readDiskProgram(name, lang, inv, s) })
		ld.inModule = inModule
	}
}

// projectOf are the arguments of a call that works on a project, and the scope of the folder
// in which that lies.
func (ld *Loader) projectOf(p *programs.Program, inv *call.Invocation, args *call.Arguments) (*state.Scope, *call.Arguments) {
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
	return ld.ScopeIn(folder, inv.Scope), args
}

// names says that a word is one of some options, with or without a value.
func names(options []string, word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return slices.Contains(options, name)
}

// ReadModules reads the modules that a Python program imports, if the text wrote them.
func (ld *Loader) ReadModules(name string, inv *call.Invocation, imported []string) {
	ld.readImports(name, "python", inv, imported)
	if !ld.HasWrites() {
		return
	}
	for _, module := range imported {
		file := strings.ReplaceAll(module, ".", "/")
		for _, p := range ld.WrittenPaths() {
			if !ld.Spend(1) {
				return
			}
			for _, end := range []string{file + ".py", file + "/__init__.py", file + "/__main__.py"} {
				if p == end || strings.HasSuffix(p, "/"+end) {
					ld.runModuleText(name, inv, p)
				}
			}
		}
	}
}

// runModuleText reads one of them, once.
func (ld *Loader) runModuleText(name string, inv *call.Invocation, p string) {
	s := ld.WrittenText(p)
	if slices.Contains(ld.importedTexts, p) || ld.isPurePython(s, inv.Scope.Folder) {
		return
	}
	ld.importedTexts = append(ld.importedTexts, p)
	ld.NoteRun(s.Taint)
	if s.Known {
		ld.runPython(name, inv, s.Text)
	} else {
		ld.Hide()
	}
}
