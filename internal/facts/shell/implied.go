package shell

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Programs run more than a text names: git its aliases and hooks, Python what shadows a module of its library, the loader
// of the system the libraries of a folder.

// implies notes the places where a call finds by itself what it runs.
func (a *analysis) implies(name string, inv *invocation, args *arguments) {
	lang := a.about(name).Language
	if name == "git" {
		a.impliesSettings(inv, args)
	}
	if search := moduleSearches[lang]; search.variable != "" {
		_, folders := a.modulesAndFolders(moduleSearch{variable: search.variable, folders: search.folders}, inv, args)
		for _, folder := range folders {
			if at := a.folderAt(folder, inv.sc); lang == "python" {
				a.library(name, inv, at)
			} else {
				a.at.Ground.Imply(value.ImpliedFiles, at)
			}
		}
	}
	for _, folder := range a.foldersIn("LD_LIBRARY_PATH", inv.sc) {
		a.imply(value.ImpliedFiles, folder, inv.sc)
	}
	program := inv.argv[0]
	if folder := folderOf(program.text); lang != "" && lang != "shell" && strings.Contains(program.text, "/") && !systemFolder(folder) {
		a.imply(value.ImpliedPackages, part(program, folderOf(folder)), inv.sc)
	}
}

// nodeLibrary are the modules of Node's own: module.builtinModules of Node 20.
var nodeLibrary = value.SetOf("assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns " +
	"domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream " +
	"string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib")

// required finds the packages that a program of Node's loads.
var required = regexp.MustCompile(`(?:\brequire\s*\(\s*|\bimport\s*\(?\s*|\bfrom\s*)["'](@?[a-z0-9][^"':\n]*)["']`)

// packages notes that a program loads packages of the project.
func (a *analysis) packages(lang string, inv *invocation, code string) {
	if lang != "node" {
		return
	}
	for _, m := range required.FindAllStringSubmatch(code, maxItems) {
		if module, _, _ := strings.Cut(m[1], "/"); !nodeLibrary[module] {
			a.imply(value.ImpliedPackages, known("node_modules"), inv.sc)
			return
		}
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

// impliesSettings notes where git looks for its settings and hooks.
func (a *analysis) impliesSettings(inv *invocation, args *arguments) {
	folder := known(".")
	for _, o := range args.options {
		key, _, _ := strings.Cut(strings.ToLower(o.value.text), "=")
		switch {
		case o.name == "--git-dir", o.name == "--work-tree", o.name == "-C" && folder.text != ".",
			o.name == "-c" && (strings.HasPrefix(key, "include") || key == "core.hookspath" || key == "core.worktree"):
			folder = known("$") // settings that are put together by the call
		case o.name == "-C":
			folder = o.value
		}
	}
	if slices.ContainsFunc(slices.Concat(inv.assigns, inv.sc.exported), choosesSettings) {
		folder = known("$")
	}
	a.imply(value.ImpliedSettings, folder, inv.sc)
}

// beside reads what shadows Python's library in the folders of a program.
func (a *analysis) beside(name string, inv *invocation, file word) {
	folders := a.foldersOf(a.fileAt(file, inv.sc))
	if len(folders) == 0 {
		a.imply(value.ImpliedModules, part(file, folderOf(file.text)), inv.sc)
	}
	for _, folder := range folders {
		a.library(name, inv, folder)
	}
}

// library reads the files of a folder that Python takes for modules of its library, and notes that there may be some.
func (a *analysis) library(name string, inv *invocation, folder string) {
	a.at.Ground.Imply(value.ImpliedModules, folder)
	if a.at.Contents == nil {
		return
	}
	prefix := ""
	if folder != "." {
		prefix = strings.TrimSuffix(folder, "/") + "/"
	}
	for _, file := range slices.Sorted(maps.Keys(*a.at.Contents)) {
		if below, ok := strings.CutPrefix(file, prefix); ok && value.Shadows(below) {
			a.importsFile(name, "python", inv, file)
		}
	}
}
