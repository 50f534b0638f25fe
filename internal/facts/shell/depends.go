package shell

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// seeks notes the files in which a call finds, by its name, what it runs.
func (a *analysis) seeks(name string, inv *call.Invocation, args *call.Arguments) {
	a.seeksProgram(inv, inv.Argv[0].Text)
	if verb := word.First(args.Operands); a.about(name).Own.Plugins && verb.Known && verb.Text != "" {
		a.seeksProgram(inv, name+"-"+verb.Text)
	}
	a.seeksCommands(name, inv, args)
	if search, ok := languages.SearchOf(a.about(name).Language); ok {
		a.seeksModules(search, inv, args)
	}
}

// seeksProgram notes the files of a program's name in the folders of a PATH that the text
// sets. A session can change neither the folders of the system nor those of the PATH before.
func (a *analysis) seeksProgram(inv *call.Invocation, name string) {
	if !a.SetsVariable("PATH", inv.Scope) || strings.Contains(name, "/") {
		return
	}
	for _, folder := range a.FoldersIn("PATH", inv.Scope) {
		if text := folder.Text; text != "$PATH" && !systemFolder(text) {
			a.SeekIn(folder, inv.Scope, name)
			a.startsSought(inv, folder, name)
		}
	}
}

// seeksCommands notes the files whose commands a call may do: those that a program of commands
// reads, and all that look like files to a program without a description.
func (a *analysis) seeksCommands(name string, inv *call.Invocation, args *call.Arguments) {
	p := a.about(name).Described
	commands := p.Input == programs.Commands || p.Input == programs.ItsProgram
	if commands || p == &programs.Undescribed && isFileName(word.Of(inv.In.File)) {
		a.LookUps = state.AddPath(a.LookUps, inv.In.File)
	}
	for _, o := range args.Options {
		if commands && p.Options[o.Name] == programs.FileRead || p == &programs.Undescribed && isFileName(o.Value) {
			a.Seek(o.Value, inv.Scope)
		}
	}
	for _, w := range args.Operands {
		if commands && (p.Operands == programs.Reads || p.Operands == programs.Unnamed) && isFileName(w) ||
			p == &programs.Undescribed && isFileName(w) {
			a.Seek(w, inv.Scope)
		}
	}
}

// isFileName says that a word looks like the name of a file: it ends like one, and names no
// host and no version.
func isFileName(w word.Word) bool {
	ending := strings.TrimPrefix(path.Ext(w.Text), ".")
	_, isURL := value.URLHost(w.Text)
	return w.Known && !isURL && ending != "" && strings.IndexFunc(ending, unicode.IsLetter) == 0 &&
		!strings.ContainsAny(w.Text, " \n=@:*?[")
}

// seeksModules notes the files of the modules that options name.
func (a *analysis) seeksModules(search languages.ModuleSearch, inv *call.Invocation, args *call.Arguments) {
	modules, folders := a.modulesAndFolders(search, inv, args)
	for _, module := range modules {
		name, _, _ := strings.Cut(module.Text, "=") // perl's -MNAME=SYMBOLS
		name = strings.ReplaceAll(strings.TrimPrefix(name, "-"), search.Separator, "/")
		var names []string
		for _, ending := range search.Endings {
			names = append(names, name+ending)
		}
		if strings.HasPrefix(name, ".") || word.IsRooted(name) { // a path, seen from the working folder
			if path.Ext(name) != "" {
				names = []string{name}
			}
			for _, name := range names {
				a.Seek(word.Part(module, name), inv.Scope)
			}
			continue
		}
		for _, folder := range folders {
			a.SeekIn(folder, inv.Scope, names...)
		}
	}
}

// modulesAndFolders are the modules that options name, and the folders that are searched for them.
func (a *analysis) modulesAndFolders(
	search languages.ModuleSearch, inv *call.Invocation, args *call.Arguments,
) (modules, folders []word.Word) {
	folders = a.FoldersIn(search.Variable, inv.Scope)
	if search.Here {
		folders = append(folders, word.Of("."))
	}
	for _, o := range args.Options {
		folder, isFolder := strings.CutPrefix(o.Value.Text, search.FolderMark)
		switch {
		case slices.Contains(search.Folders, o.Name):
			folders = append(folders, o.Value)
		case !slices.Contains(search.Modules, o.Name):
		case isFolder && search.FolderMark != "":
			folders = append(folders, word.Part(o.Value, folder))
		default:
			modules = append(modules, o.Value)
		}
	}
	return modules, folders
}
