package shell

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// seeks notes the files in which a call finds, by its name, what it runs.
func (a *analysis) seeks(name string, inv *invocation, args *arguments) {
	a.seeksProgram(inv, inv.argv[0].text)
	if verb := first(args.operands); a.about(name).Own.Plugins && verb.known && verb.text != "" {
		a.seeksProgram(inv, name+"-"+verb.text)
	}
	a.seeksCommands(name, inv, args)
	if search, ok := moduleSearches[a.about(name).Language]; ok {
		a.seeksModules(search, inv, args)
	}
}

// seeksProgram notes the files of a program's name in the folders of a PATH that the text
// sets. A session can change neither the folders of the system nor those of the PATH before.
func (a *analysis) seeksProgram(inv *invocation, name string) {
	if !a.setsVariable("PATH", inv.sc) || strings.Contains(name, "/") {
		return
	}
	for _, folder := range a.foldersIn("PATH", inv.sc) {
		if text := folder.text; text != "$PATH" && !systemFolder(text) {
			a.seeksIn(folder, inv.sc, name)
			a.startsSought(inv, folder, name)
		}
	}
}

// isSearched says that programs or modules are looked for in the folders of a variable.
func isSearched(variable string) bool {
	for _, search := range moduleSearches {
		if search.variable == variable {
			return true
		}
	}
	return variable == "PATH"
}

// moduleSearch is how programs of a language find a module by its name.
type moduleSearch struct {
	// modules are the options that name a module, folders those that name a folder. A module
	// that starts with folderMark names a folder too (perl's -Mlib=FOLDER).
	modules, folders []string
	folderMark       string
	// variable holds more folders.
	variable string
	// here says that the working folder is searched.
	here bool
	// separator stands between the parts of a name, endings make the names of its files.
	separator string
	endings   []string
}

var moduleSearches = map[string]moduleSearch{
	"python": {modules: []string{"-m"}, variable: "PYTHONPATH", here: true, separator: ".",
		endings: []string{".py", "/__init__.py", "/__main__.py"}},
	"perl": {modules: []string{"-M", "-m"}, folders: []string{"-I"}, folderMark: "lib=", variable: "PERL5LIB", separator: "::",
		endings: []string{".pm"}},
	"ruby": {modules: []string{"-r"}, folders: []string{"-I"}, variable: "RUBYLIB", separator: "/", endings: []string{".rb", ""}},
	"node": {modules: []string{"-r", "--require", "--import"}, variable: "NODE_PATH", here: true, separator: "/",
		endings: []string{"", ".js", ".cjs", ".mjs"}},
}

// seeksCommands notes the files whose commands a call may do: those that a program of commands
// reads, and all that look like files to a program without a description.
func (a *analysis) seeksCommands(name string, inv *invocation, args *arguments) {
	p := a.about(name).Described
	commands := p.Input == programs.Commands || p.Input == programs.ItsProgram
	if commands || p == &programs.Undescribed && isFileName(known(inv.in.file)) {
		a.sought = add(a.sought, inv.in.file)
	}
	for _, o := range args.options {
		if commands && p.Options[o.name] == programs.FileRead || p == &programs.Undescribed && isFileName(o.value) {
			a.seeksFile(o.value, inv.sc)
		}
	}
	for _, w := range args.operands {
		if commands && (p.Operands == programs.Reads || p.Operands == programs.Unnamed) && isFileName(w) ||
			p == &programs.Undescribed && isFileName(w) {
			a.seeksFile(w, inv.sc)
		}
	}
}

// isFileName says that a word looks like the name of a file: it ends like one, and names no
// host and no version.
func isFileName(w word) bool {
	ending := strings.TrimPrefix(path.Ext(w.text), ".")
	_, isURL := value.URLHost(w.text)
	return w.known && !isURL && ending != "" && strings.IndexFunc(ending, unicode.IsLetter) == 0 &&
		!strings.ContainsAny(w.text, " \n=@:*?[")
}

// seeksModules notes the files of the modules that options name.
func (a *analysis) seeksModules(search moduleSearch, inv *invocation, args *arguments) {
	modules, folders := a.modulesAndFolders(search, inv, args)
	for _, module := range modules {
		name, _, _ := strings.Cut(module.text, "=") // perl's -MNAME=SYMBOLS
		name = strings.ReplaceAll(strings.TrimPrefix(name, "-"), search.separator, "/")
		var names []string
		for _, ending := range search.endings {
			names = append(names, name+ending)
		}
		if strings.HasPrefix(name, ".") || rooted(name) { // a path, seen from the working folder
			if path.Ext(name) != "" {
				names = []string{name}
			}
			for _, name := range names {
				a.seeksFile(part(module, name), inv.sc)
			}
			continue
		}
		for _, folder := range folders {
			a.seeksIn(folder, inv.sc, names...)
		}
	}
}

// modulesAndFolders are the modules that options name, and the folders that are searched for them.
func (a *analysis) modulesAndFolders(search moduleSearch, inv *invocation, args *arguments) (modules, folders []word) {
	folders = a.foldersIn(search.variable, inv.sc)
	if search.here {
		folders = append(folders, known("."))
	}
	for _, o := range args.options {
		folder, isFolder := strings.CutPrefix(o.value.text, search.folderMark)
		switch {
		case slices.Contains(search.folders, o.name):
			folders = append(folders, o.value)
		case !slices.Contains(search.modules, o.name):
		case isFolder && search.folderMark != "":
			folders = append(folders, part(o.value, folder))
		default:
			modules = append(modules, o.value)
		}
	}
	return modules, folders
}
