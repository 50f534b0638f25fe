package loads

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Programs run more than a text names: git its aliases and hooks, Python what shadows a module of its library, the loader
// of the system the libraries of a folder.

// NoteImplied notes the places where a call finds by itself what it runs.
func (ld *Loader) NoteImplied(name string, inv *call.Invocation, args *call.Arguments) {
	lang := ld.About(name).Language
	if name == "git" {
		ld.noteGitSettings(inv, args)
	}
	if search, ok := languages.SearchOf(lang); ok {
		_, folders := ld.modulesAndFolders(languages.ModuleSearch{Variable: search.Variable, Folders: search.Folders}, inv, args)
		for _, folder := range folders {
			if at := ld.FolderAt(folder, inv.Scope); lang == "python" {
				ld.shadowModules(name, inv, at)
			} else {
				ld.At.Ground.Imply(bailiff.ImpliedFiles, at)
			}
		}
	}
	for _, folder := range ld.FoldersIn("LD_LIBRARY_PATH", inv.Scope) {
		ld.Imply(bailiff.ImpliedFiles, folder, inv.Scope)
	}
	program, ofLanguage := inv.Argv[0], lang != "" && lang != "shell"
	if folder := overlay.FolderOf(program.Text); ofLanguage && strings.Contains(program.Text, "/") && !overlay.IsSystemFolder(folder) {
		ld.Imply(bailiff.ImpliedPackages, word.Part(program, overlay.FolderOf(folder)), inv.Scope)
	}
}

// notePackages notes that a program loads packages of the project.
func (ld *Loader) notePackages(lang string, inv *call.Invocation, code string) {
	if lang != "node" {
		return
	}
	if languages.LoadsPackages(code) {
		ld.Imply(bailiff.ImpliedPackages, word.Of("node_modules"), inv.Scope)
	}
}

// idleVariables are those that git reads and that choose neither settings nor a repository.
var idleVariables = value.SetOf("GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL " +
	"GIT_COMMITTER_DATE GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_TERMINAL_PROMPT GIT_MERGE_AUTOEDIT GIT_OPTIONAL_LOCKS " +
	"GIT_LFS_SKIP_SMUDGE GIT_SSH_COMMAND GIT_ADVICE GIT_PROGRESS_DELAY GIT_FLUSH")

// choosesSettings says that git takes its settings from elsewhere where a text sets a variable.
func choosesSettings(variable string) bool {
	return (strings.HasPrefix(variable, "GIT_") && !idleVariables[variable]) || variable == "HOME" || strings.HasPrefix(variable, "XDG_")
}

// noteGitSettings notes where git looks for its settings and hooks.
func (ld *Loader) noteGitSettings(inv *call.Invocation, args *call.Arguments) {
	folder := word.Of(".")
	for _, o := range args.Options {
		key, _, _ := strings.Cut(strings.ToLower(o.Value.Text), "=")
		switch {
		case o.Name == "--git-dir", o.Name == "--work-tree", o.Name == "-C" && folder.Text != ".",
			o.Name == "-c" && (strings.HasPrefix(key, "include") || key == "core.hookspath" || key == "core.worktree"):
			folder = word.Of("$") // settings that are put together by the call
		case o.Name == "-C":
			folder = o.Value
		}
	}
	if slices.ContainsFunc(slices.Concat(inv.Assigns, inv.Scope.Exports), choosesSettings) {
		folder = word.Of("$")
	}
	ld.Imply(bailiff.ImpliedSettings, folder, inv.Scope)
}

// noteShadows reads what shadows Python's library in the folders of a program.
func (ld *Loader) noteShadows(name string, inv *call.Invocation, file word.Word) {
	folders := ld.FoldersOf(ld.FileAt(file, inv.Scope))
	if len(folders) == 0 {
		ld.Imply(bailiff.ImpliedModules, word.Part(file, overlay.FolderOf(file.Text)), inv.Scope)
	}
	for _, folder := range folders {
		ld.shadowModules(name, inv, folder)
	}
}

// shadowModules reads the files of a folder that Python takes for modules of its library, and notes that there may be some.
func (ld *Loader) shadowModules(name string, inv *call.Invocation, folder string) {
	ld.At.Ground.Imply(bailiff.ImpliedModules, folder)
	if ld.At.Contents == nil {
		return
	}
	prefix := ""
	if folder != "." {
		prefix = strings.TrimSuffix(folder, "/") + "/"
	}
	for _, file := range slices.Sorted(maps.Keys(*ld.At.Contents)) {
		if below, ok := strings.CutPrefix(file, prefix); ok && value.Shadows(below) {
			ld.readModuleFile(name, "python", inv, file)
		}
	}
}
