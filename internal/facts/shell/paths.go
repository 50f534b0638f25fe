package shell

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
		return a.addPath(list, a.path(w, sc), itself)
	}
	for _, one := range w.items {
		list = a.addPath(list, a.path(one, sc), itself)
	}
	return list
}

// addPath appends a path, and those that the text's links make of it.
func (a *analysis) addPath(list []string, p string, itself bool) []string {
	list = add(list, p)
	if len(a.links) > 0 {
		list = addAll(list, a.behindLinks(p, itself))
	}
	return list
}
