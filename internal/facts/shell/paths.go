package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// path is the file that a word names: cleaned, absolute where that is known, "~" for the home folder.
func (fs *overlay) path(w word, sc *scope) string {
	if w.text == "" || w.text == "-" || w.text == ">(…)" || w.source != nil {
		return ""
	}
	text := w.text
	if w.glob {
		text = fs.globs.Pattern(text)
	}
	p := sc.behind(fs.at.Path(text, sc.cwd))
	if len(sc.mounts) > 0 {
		p = sc.outside(p)
	}
	return p
}

// addPaths appends the files that a word may name: it may stand for several, or lead through
// links that the text has made.
func (fs *overlay) addPaths(list []string, w word, sc *scope, itself bool) []string {
	if w.items == nil {
		return fs.addNamed(list, w, sc, itself)
	}
	for _, one := range w.items {
		list = fs.addNamed(list, one, sc, itself)
	}
	return list
}

// addNamed appends the file that a word names, and its other names by links that the text makes
// or that stand there. A slash at its end has a link followed.
func (fs *overlay) addNamed(list []string, w word, sc *scope, itself bool) []string {
	itself = itself || strings.HasSuffix(w.text, "/") || strings.HasSuffix(w.text, "/.") || w.text == "."
	p := fs.path(w, sc)
	list = fs.addPath(list, p, itself)
	if file := fs.fileAt(w, sc); p != "" && file != p {
		list = addAll(list, fs.others(file, itself))
	}
	return list
}

// addPath appends a path, and its other names.
func (fs *overlay) addPath(list []string, p string, itself bool) []string {
	before := len(list)
	if list = add(list, p); len(list) == before {
		return list
	}
	if len(fs.links) > 0 {
		list = addAll(list, fs.behindLinks(p, itself))
	}
	return addAll(list, fs.others(p, itself))
}

// others are the other names of a path by links that stand where the text runs.
func (fs *overlay) others(p string, itself bool) []string {
	fs.at.Ground.Name(p)
	names := fs.at.Ground.Others(p, itself)
	fs.spend(len(names))
	for i, name := range names {
		names[i] = fs.at.Path(name, "")
	}
	return names
}

// fileAt is a word as the system resolves it, see [Command.Files]: what
// "sub/.." is only the file system knows, since sub may be a link.
func (fs *overlay) fileAt(w word, sc *scope) string {
	p := w.text
	if below, here := strings.CutPrefix(p, "/proc/self/cwd/"); here { // the folder of the program that opens it
		p = below
	}
	switch {
	case p == "" || w.source != nil:
		return ""
	case len(sc.mounts) > 0:
		return fs.path(w, sc)
	case strings.HasPrefix(p, "~") && !w.home:
		return `\` + p
	case rooted(p) || strings.HasPrefix(p, "$"):
		return value.Tidy(p)
	case sc.astray:
		return value.Tidy("$PWD/" + path.Join(sc.cwd, ".") + "/" + p)
	case sc.cwd == "":
		return value.Tidy(p)
	}
	return value.Tidy(sc.cwd + "/" + p)
}

// aboveMade is a path without the folders that the text writes and a ".." behind them: such a folder may not be there yet
// when the file is looked at. It is the path itself where there are none.
func (fs *overlay) aboveMade(p string) string {
	parts := strings.Split(p, "/")
	for i := 1; i < len(parts); i++ {
		if folder := strings.Join(parts[:i], "/"); parts[i] == ".." && i > 1 && parts[i-1] != ".." && fs.writesIn(folder) {
			parts, i = slices.Delete(parts, i-1, i+1), max(0, i-2)
		}
	}
	return strings.Join(parts, "/")
}

// writesIn says that the text writes a folder, or something in it.
func (fs *overlay) writesIn(folder string) bool {
	folder = fs.at.Path(folder, "")
	return slices.ContainsFunc(fs.writes, func(w string) bool { return w == folder || strings.HasPrefix(w, folder+"/") })
}

// standing is a scope that a program starts in a folder: only the file system
// knows what ".." is there.
func (fs *overlay) standing(folder word, sc *scope) *scope {
	in := sc.fork()
	in.astray = sc.astray && !rooted(folder.text)
	if in.cwd = fs.fileAt(folder, sc); in.astray {
		in.cwd = fs.path(folder, sc)
	}
	return in
}

func (fs *overlay) pathsOf(words []word, sc *scope) []string {
	var all []string
	for _, w := range words {
		all = append(all, fs.path(w, sc))
	}
	return all
}

// folderAt is a folder, spelt as files are; "." is the one where the text starts.
func (fs *overlay) folderAt(w word, sc *scope) string { return cmp.Or(fs.fileAt(w, sc), ".") }

// foldersOf are the folders in which a program of Python's looks for modules that lies in a file: that of the file, spelt so that the
// file system follows "..", or, since Python follows a link, of what the file leads to.
func (fs *overlay) foldersOf(file string) []string {
	if file == "" {
		return nil
	}
	folders := []string{folderOf(file)}
	for _, other := range fs.others(file, true) {
		folders = add(folders, folderOf(other))
	}
	return folders
}

// folderOf is the folder in which a file lies, as the file's name spells it.
func folderOf(file string) string {
	switch end := strings.LastIndexByte(file, '/'); end {
	case -1:
		return "."
	case 0:
		return "/"
	default:
		return file[:end]
	}
}
