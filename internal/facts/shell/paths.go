package shell

import "strings"

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
