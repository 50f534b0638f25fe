package overlay

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Path is the file that a word names: cleaned, absolute where that is known, "~" for the home folder.
func (fs *FS) Path(w word.Word, sc *state.Scope) string {
	if w.Text == "" || w.Text == "-" || w.Text == ">(…)" || w.Source != nil {
		return ""
	}
	text := w.Text
	if w.Glob {
		text = fs.Globs.Pattern(text)
	}
	p := sc.BelowDescriptor(fs.At.Path(text, sc.Folder))
	if len(sc.Mounts) > 0 {
		p = sc.HostPath(p)
	}
	return p
}

// AddPaths appends the files that a word may name: it may stand for several, or lead through
// links that the text has made.
func (fs *FS) AddPaths(list []string, w word.Word, sc *state.Scope, itself bool) []string {
	if w.Items == nil {
		return fs.AddNames(list, w, sc, itself)
	}
	for _, one := range w.Items {
		list = fs.AddNames(list, one, sc, itself)
	}
	return list
}

// AddNames appends the file that a word names, and its other names by links that the text makes
// or that stand there. A slash at its end has a link followed.
func (fs *FS) AddNames(list []string, w word.Word, sc *state.Scope, itself bool) []string {
	itself = itself || strings.HasSuffix(w.Text, "/") || strings.HasSuffix(w.Text, "/.") || w.Text == "."
	p := fs.Path(w, sc)
	list = fs.addPath(list, p, itself)
	if file := fs.FileAt(w, sc); p != "" && file != p {
		list = state.AddPaths(list, fs.Others(file, itself))
	}
	return list
}

// addPath appends a path, and its other names.
func (fs *FS) addPath(list []string, p string, itself bool) []string {
	before := len(list)
	if list = state.AddPath(list, p); len(list) == before {
		return list
	}
	if len(fs.links) > 0 {
		list = state.AddPaths(list, fs.targets(p, itself))
	}
	return state.AddPaths(list, fs.Others(p, itself))
}

// Others are the other names of a path by links that stand where the text runs.
func (fs *FS) Others(p string, itself bool) []string {
	fs.At.Ground.Name(p)
	names := fs.At.Ground.Others(p, itself)
	fs.Spend(len(names))
	for i, name := range names {
		names[i] = fs.At.Path(name, "")
	}
	return names
}

// FileAt is a word as the system resolves it, see [Command.Files]: what
// "sub/.." is only the file system knows, since sub may be a link.
func (fs *FS) FileAt(w word.Word, sc *state.Scope) string {
	p := w.Text
	if below, here := strings.CutPrefix(p, "/proc/self/cwd/"); here { // the folder of the program that opens it
		p = below
	}
	switch {
	case p == "" || w.Source != nil:
		return ""
	case len(sc.Mounts) > 0:
		return fs.Path(w, sc)
	case strings.HasPrefix(p, "~") && !w.Home:
		return `\` + p
	case word.IsRooted(p) || strings.HasPrefix(p, "$"):
		return value.Tidy(p)
	case sc.Astray:
		return value.Tidy("$PWD/" + path.Join(sc.Folder, ".") + "/" + p)
	case sc.Folder == "":
		return value.Tidy(p)
	}
	return value.Tidy(sc.Folder + "/" + p)
}

// above is a path without the folders that the text writes and a ".." behind them: such a folder may not be there yet
// when the file is looked at. It is the path itself where there are none.
func (fs *FS) above(p string) string {
	parts := strings.Split(p, "/")
	for i := 1; i < len(parts); i++ {
		if folder := strings.Join(parts[:i], "/"); parts[i] == ".." && i > 1 && parts[i-1] != ".." && fs.writesIn(folder) {
			parts, i = slices.Delete(parts, i-1, i+1), max(0, i-2)
		}
	}
	return strings.Join(parts, "/")
}

// writesIn says that the text writes a folder, or something in it.
func (fs *FS) writesIn(folder string) bool {
	folder = fs.At.Path(folder, "")
	return slices.ContainsFunc(fs.Writes, func(w string) bool { return w == folder || strings.HasPrefix(w, folder+"/") })
}

// ScopeIn is a scope that a program starts in a folder: only the file system
// knows what ".." is there.
func (fs *FS) ScopeIn(folder word.Word, sc *state.Scope) *state.Scope {
	in := sc.Fork()
	in.Astray = sc.Astray && !word.IsRooted(folder.Text)
	if in.Folder = fs.FileAt(folder, sc); in.Astray {
		in.Folder = fs.Path(folder, sc)
	}
	return in
}

// Paths are the files that words name.
func (fs *FS) Paths(words []word.Word, sc *state.Scope) []string {
	var all []string
	for _, w := range words {
		all = append(all, fs.Path(w, sc))
	}
	return all
}

// FolderAt is a folder, spelt as files are; "." is the one where the text starts.
func (fs *FS) FolderAt(w word.Word, sc *state.Scope) string { return cmp.Or(fs.FileAt(w, sc), ".") }

// FoldersOf are the folders in which a program of Python's looks for modules that lies in a file: that of the file, spelt so that the
// file system follows "..", or, since Python follows a link, of what the file leads to.
func (fs *FS) FoldersOf(file string) []string {
	if file == "" {
		return nil
	}
	folders := []string{FolderOf(file)}
	for _, other := range fs.Others(file, true) {
		folders = state.AddPath(folders, FolderOf(other))
	}
	return folders
}

// FolderOf is the folder in which a file lies, as the file's name spells it.
func FolderOf(file string) string {
	switch end := strings.LastIndexByte(file, '/'); end {
	case -1:
		return "."
	case 0:
		return "/"
	default:
		return file[:end]
	}
}
