package languages

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// IsSearched says that programs or modules are looked for in the folders of a variable.
func IsSearched(variable string) bool {
	for _, search := range moduleSearches {
		if search.Variable == variable {
			return true
		}
	}
	return variable == "PATH"
}

// ModuleSearch is how programs of a language find a module by its name.
type ModuleSearch struct {
	// Modules are the options that name a module, Folders those that name a folder. A module
	// that starts with FolderMark names a folder too (perl's -Mlib=FOLDER).
	Modules, Folders []string
	FolderMark       string
	// Variable holds more folders.
	Variable string
	// Here says that the working folder is searched.
	Here bool
	// Separator stands between the parts of a name, endings make the names of its files.
	Separator string
	Endings   []string
}

// SearchOf is how programs of a language find modules; ok is false where that is not listed.
func SearchOf(lang string) (search ModuleSearch, ok bool) {
	search, ok = moduleSearches[lang]
	return search, ok
}

var moduleSearches = map[string]ModuleSearch{
	"python": {Modules: []string{"-m"}, Variable: "PYTHONPATH", Here: true, Separator: ".",
		Endings: []string{".py", "/__init__.py", "/__main__.py"}},
	"perl": {Modules: []string{"-M", "-m"}, Folders: []string{"-I"}, FolderMark: "lib=", Variable: "PERL5LIB", Separator: "::",
		Endings: []string{".pm"}},
	"ruby": {Modules: []string{"-r"}, Folders: []string{"-I"}, Variable: "RUBYLIB", Separator: "/", Endings: []string{".rb", ""}},
	"node": {Modules: []string{"-r", "--require", "--import"}, Variable: "NODE_PATH", Here: true, Separator: "/",
		Endings: []string{"", ".js", ".cjs", ".mjs"}},
}

// nodeLibrary are the modules of Node's own: module.builtinModules of Node 20.
var nodeLibrary = value.SetOf("assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns " +
	"domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream " +
	"string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib")

// LoadsPackages says that a program of Node's loads more than Node's own modules.
func LoadsPackages(code string) bool {
	return slices.ContainsFunc(packageNames.FindAllStringSubmatch(code, word.MaxItems), func(found []string) bool {
		module, _, _ := strings.Cut(found[1], "/")
		return !nodeLibrary[module]
	})
}

// packageNames finds the packages that a program of Node's loads.
var packageNames = regexp.MustCompile(`(?:\brequire\s*\(\s*|\bimport\s*\(?\s*|\bfrom\s*)["'](@?[a-z0-9][^"':\n]*)["']`)

// IsStandard says that a member is one of a module of Python's library.
func IsStandard(member string) bool {
	module, _, _ := strings.Cut(member, ".")
	return value.PythonLibrary()[module]
}

// ModuleFiles are the files in which a module may lie, as seen from the one that imports it.
// Those of the packages around a module are run before it.
func ModuleFiles(lang, module string) []string {
	switch lang {
	case "node":
		if LanguageOf(module) == "node" || path.Ext(module) == ".node" {
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

// loads finds the files beside a program that it loads by literal names, by its language.
var loads = map[string]*regexp.Regexp{
	"node":    regexp.MustCompile(`(?:\brequire\s*\(\s*|\bimport\s*\(?\s*|\bfrom\s*)["'](\.{1,2}/[^"'\n]+)["']`),
	"perl":    regexp.MustCompile(`\b(?:require|do)\s*\(?\s*["'](\.{0,2}/[^"'\n]+|[^"'\n]+\.p[lm])["']`),
	"ruby":    regexp.MustCompile(`\b(?:require_relative|load|require)\s*\(?\s*["']([^"'\n]+)["']`),
	"php":     regexp.MustCompile(`\b(?:require|include)(?:_once)?\s*\(?\s*(?:__DIR__\s*\.\s*)?["']([^"'\n]+)["']`),
	"lua":     regexp.MustCompile(`\b(?:dofile|loadfile)\s*\(?\s*["']([^"'\n]+)["']`),
	"Rscript": regexp.MustCompile(`\bsource\s*\(\s*["']([^"'\n]+)["']`),
}

// LoadNames are the names of those files.
func LoadNames(lang, code string) []string {
	var names []string
	if loads[lang] == nil {
		return nil
	}
	for _, found := range loads[lang].FindAllStringSubmatch(code, word.MaxItems) {
		names = append(names, found[1])
	}
	return names
}
