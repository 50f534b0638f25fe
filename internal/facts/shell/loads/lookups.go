package loads

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// NoteLookUps notes the files in which a call finds, by its name, what it runs.
func (ld *Loader) NoteLookUps(name string, inv *call.Invocation, args *call.Arguments) {
	if ld.SetsVariable("PATH", inv.Scope) {
		ld.lookUpProgram(inv, inv.Argv[0].Text)
		if verb := word.First(args.Operands); ld.About(name).Own.Plugins && verb.Known && verb.Text != "" {
			ld.lookUpProgram(inv, name+"-"+verb.Text)
		}
	}
	ld.lookUpCommands(name, inv, args)
	if search, ok := languages.SearchOf(ld.About(name).Language); ok {
		ld.lookUpModules(search, inv, args)
	}
}

// lookUpProgram notes the files of a program's name in the folders of a PATH that the text
// sets. A session can change neither the folders of the system nor those of the PATH before.
func (ld *Loader) lookUpProgram(inv *call.Invocation, name string) {
	if strings.Contains(name, "/") {
		return
	}
	for _, folder := range ld.FoldersIn("PATH", inv.Scope) {
		if text := folder.Text; text != "$PATH" && !overlay.IsSystemFolder(text) {
			ld.SeekIn(folder, inv.Scope, name)
			ld.startFromPath(inv, folder, name)
			ld.Modules = append(ld.Modules, ld.FileAt(word.InFolder(folder, "*"), inv.Scope)) // what it starts in turn is found there, too
		}
	}
}

// lookUpCommands notes the files whose commands a call may do: those that a program of commands
// reads, and all that look like files to a program without a description.
func (ld *Loader) lookUpCommands(name string, inv *call.Invocation, args *call.Arguments) {
	p := ld.About(name).Described
	commands := p.Input == programs.Commands || p.Input == programs.ItsProgram
	if commands || p == &programs.Undescribed && isFileName(word.Of(inv.In.File)) {
		ld.LookUps = state.AddPath(ld.LookUps, inv.In.File)
	}
	for _, o := range args.Options {
		if commands && p.Options[o.Name] == programs.FileRead || p == &programs.Undescribed && isFileName(o.Value) {
			ld.Seek(o.Value, inv.Scope)
		}
	}
	for _, w := range args.Operands {
		if commands && (p.Operands == programs.Reads || p.Operands == programs.Unnamed) && isFileName(w) ||
			p == &programs.Undescribed && isFileName(w) {
			ld.Seek(w, inv.Scope)
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

// lookUpModules notes the files of the modules that options name.
func (ld *Loader) lookUpModules(search languages.ModuleSearch, inv *call.Invocation, args *call.Arguments) {
	modules, folders := ld.modulesAndFolders(search, inv, args)
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
				ld.Seek(word.Part(module, name), inv.Scope)
			}
			continue
		}
		for _, folder := range folders {
			ld.SeekIn(folder, inv.Scope, names...)
		}
	}
}

// modulesAndFolders are the modules that options name, and the folders that are searched for them.
func (ld *Loader) modulesAndFolders(
	search languages.ModuleSearch, inv *call.Invocation, args *call.Arguments,
) (modules, folders []word.Word) {
	folders = ld.FoldersIn(search.Variable, inv.Scope)
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
