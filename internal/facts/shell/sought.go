package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// runsNamed reads the file that an option or a variable names for a program to run.
func (a *analysis) runsNamed(name string, w word, inv *invocation) {
	p := a.runsFile(w, inv.sc)
	s, ok := a.runnable(p, a.fileAt(w, inv.sc))
	switch lang := a.about(name).Language; {
	case !ok:
		a.endings(name, lang, inv, w)
	case lang == "":
		a.ran(s.Taint)
	case lang == "shell":
		a.streamText(name, inv, s, inv.sc.fork())
	case s.found:
		a.reading(s, func() { a.foundProgram(name, lang, inv, s) })
	default:
		a.inline(name, lang, inv, s.word())
	}
}

// startsSought reads the program of a name in a folder of a PATH that the text sets. One that it wrote may call its own name.
func (a *analysis) startsSought(inv *invocation, folder word, name string) {
	if below, here := strings.CutPrefix(folder.text, "$PWD/"); here && inv.sc.cwd == "" && !inv.sc.astray {
		folder.text = below
	}
	file := inFolder(folder, name)
	p := a.path(file, inv.sc)
	if slices.Contains(a.seeking, p) {
		return
	}
	a.seeking = append(a.seeking, p)
	defer func() { a.seeking = a.seeking[:len(a.seeking)-1] }()
	if a.downloaded(p) {
		a.ran(value.Taint{Fetched: true})
	}
	if s, ok := a.runnable(p, a.fileAt(file, inv.sc)); ok && s.found {
		s.settled = s.settled || strings.Contains(p, "/node_modules/") // a package manager put it there
		a.reading(s, func() { a.startsFound(inv, p, s) })
	} else if ok {
		a.startsFile(inv, p, s)
	}
}

// startingBeside is a call whose programs are looked for in a folder of the project first.
func (a *analysis) startingBeside(name string, inv *invocation) *invocation {
	folder := a.about(name).Own.Beside
	if folder == "" {
		return inv
	}
	there := *inv
	there.sc = inv.sc.fork()
	rest := known("$PATH")
	if v, set := a.value("PATH", inv.sc); set {
		rest = v
	}
	rest.text = a.fileAt(known(folder), inv.sc) + ":" + rest.text
	there.sc.set("PATH", variable{list: []word{rest}})
	return &there
}

// importsFound reads the modules that a program found in a file imports from beside it, and
// notes where they may lie. Without such a program they lie in the working folder.
func (a *analysis) importsFound(name, lang string, inv *invocation, imported []string) {
	if lang == "python" {
		a.importsPython(name, inv, imported)
		return
	}
	folder := a.folderAt(known("."), inv.sc)
	if file, ok := a.innermost(); ok {
		folder = folderOf(file)
	}
	for _, module := range imported {
		a.importsFrom(name, lang, inv, folder, module)
	}
}

// importsPython reads the modules of a Python program: one that another imports lies beside the program which is run, a relative one
// beside the other.
func (a *analysis) importsPython(name string, inv *invocation, imported []string) {
	folders := a.modulePath
	if len(folders) == 0 {
		folders = []string{a.folderAt(known("."), inv.sc)}
	}
	own := folders
	if a.inModule {
		file, _ := a.innermost()
		own = a.foldersOf(file)
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
func (a *analysis) importsFrom(name, lang string, inv *invocation, folder, module string) {
	for _, file := range moduleFiles(lang, module) {
		if rooted(file) {
			folder = ""
		}
		a.importsFile(name, lang, inv, value.Tidy(folder+"/"+file))
	}
}

// endings reads the files for which a program of Node's may take a name without an ending.
func (a *analysis) endings(name, lang string, inv *invocation, w word) {
	if lang == "node" && w.known {
		a.importsFrom(name, lang, inv, "", a.fileAt(w, inv.sc))
	}
}

func isStandard(member string) bool {
	module, _, _ := strings.Cut(member, ".")
	return value.PythonLibrary()[module]
}

// moduleFiles are the files in which a module may lie, as seen from the one that imports it.
// Those of the packages around a module are run before it.
func moduleFiles(lang, module string) []string {
	switch lang {
	case "node":
		if languagesOf[path.Ext(module)] == "node" || path.Ext(module) == ".node" {
			return []string{module}
		}
		return []string{module, module + ".js", module + ".cjs", module + ".mjs", module + ".ts", module + ".node", module + "/index.js"}
	case "ruby":
		return []string{module, module + ".rb"}
	case "python":
	default:
		return []string{module}
	}
	var files []string
	parts := strings.Split(strings.TrimLeft(module, "."), ".")
	for i := range parts {
		name := strings.Join(parts[:i+1], "/")
		if name == "" {
			continue
		}
		files = append(files, name+".py")
		if parts[i] != "__main__" {
			files = append(files, name+"/__init__.py")
		}
	}
	return files
}

// importsFile reads a module, once.
func (a *analysis) importsFile(name, lang string, inv *invocation, file string) {
	if slices.Contains(a.imported, file) || !a.spend(1) {
		return
	}
	a.imported, a.sought = append(a.imported, file), append(a.sought, file)
	if a.at.Contents == nil {
		return
	}
	if s, ok := a.runnable(a.at.Path(file, ""), file); ok && s.found {
		inModule := a.inModule
		a.inModule = lang == "python"
		a.reading(s, func() { a.foundProgram(name, lang, inv, s) })
		a.inModule = inModule
	}
}

// loads finds the files beside a program that it loads by literal names, by its language.
var loads = map[string]*regexp.Regexp{
	"node":    regexp.MustCompile(`(?:\brequire\s*\(\s*|\bimport\s*\(?\s*|\bfrom\s*)["'](\.{1,2}/[^"'\n]+)["']`),
	"perl":    regexp.MustCompile(`\b(?:require|do)\s*\(?\s*["'](\.{0,2}/[^"'\n]+|[^"'\n]+\.p[lm])["']`),
	"ruby":    regexp.MustCompile(`\b(?:require_relative|load|require)\s*\(?\s*["']([^"'\n]+)["']`),
	"php":     regexp.MustCompile(`\b(?:require|include)(?:_once)?\s*\(?\s*(?:__DIR__\s*\.\s*)?["']([^"'\n]+)["']`),
	"lua":     regexp.MustCompile(`\b(?:dofile|loadfile)\s*\(?\s*["']([^"'\n]+)["']`),
	"Rscript": regexp.MustCompile(`\bsource\s*\(\s*["']([^"'\n]+)["']`),
}

// loaded are the names of those files.
func loaded(lang, code string) []string {
	var names []string
	if loads[lang] == nil {
		return nil
	}
	for _, found := range loads[lang].FindAllStringSubmatch(code, maxItems) {
		names = append(names, found[1])
	}
	return names
}

// projectOf are the arguments of a call that works on a project, and the scope of the folder
// in which that lies.
func (a *analysis) projectOf(p *programs.Program, inv *invocation, args *arguments) (*scope, *arguments) {
	if len(p.Chdir) == 0 || !slices.ContainsFunc(args.all, func(w word) bool { return names(p.Chdir, w.text) }) {
		return inv.sc, args
	}
	options := programs.Options{}
	for _, o := range p.Chdir {
		options[o] = programs.Plain
	}
	args = parseArguments(args.all, &programs.Program{Options: options})
	folder, ok := args.value(p.Chdir...)
	if !ok {
		return inv.sc, args
	}
	return a.standing(folder, inv.sc), args
}

// names says that a word is one of some options, with or without a value.
func names(options []string, word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return slices.Contains(options, name)
}
