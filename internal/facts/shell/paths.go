package shell

import "strings"

// path is the file that a word names: cleaned, absolute where that is known, "~" for the home folder.
func (a *analysis) path(w word, sc *scope) string {
	if w.text == "" || w.text == "-" || w.text == ">(…)" || w.source != nil {
		return ""
	}
	text := w.text
	if w.glob {
		text = a.globs.Pattern(text)
	}
	p := sc.behind(a.at.Path(text, sc.cwd))
	if len(sc.mounts) > 0 {
		p = sc.outside(p)
	}
	return p
}

// addPaths appends the files that a word may name: it may stand for several, or lead through
// links that the text has made.
func (a *analysis) addPaths(list []string, w word, sc *scope, itself bool) []string {
	if w.items == nil {
		return a.addNamed(list, w, sc, itself)
	}
	for _, one := range w.items {
		list = a.addNamed(list, one, sc, itself)
	}
	return list
}

// addNamed appends the file that a word names, and its other names by links that the text makes
// or that stand there. A slash at its end has a link followed.
func (a *analysis) addNamed(list []string, w word, sc *scope, itself bool) []string {
	itself = itself || strings.HasSuffix(w.text, "/") || strings.HasSuffix(w.text, "/.") || w.text == "."
	p := a.path(w, sc)
	list = a.addPath(list, p, itself)
	if file := a.fileAt(w, sc); p != "" && file != p {
		list = addAll(list, a.others(file, itself))
	}
	return list
}

// addPath appends a path, and its other names.
func (a *analysis) addPath(list []string, p string, itself bool) []string {
	before := len(list)
	if list = add(list, p); len(list) == before {
		return list
	}
	if len(a.links) > 0 {
		list = addAll(list, a.behindLinks(p, itself))
	}
	return addAll(list, a.others(p, itself))
}

// others are the other names of a path by links that stand where the text runs.
func (a *analysis) others(p string, itself bool) []string {
	a.at.Ground.Name(p)
	names := a.at.Ground.Others(p, itself)
	a.spend(len(names))
	for i, name := range names {
		names[i] = a.at.Path(name, "")
	}
	return names
}
