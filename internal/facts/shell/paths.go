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

// pathsOf are the files that a word may name: it may stand for several, or lead through
// links that the text has made.
func (a *analysis) pathsOf(w word, sc *scope, itself bool) []string {
	var out []string
	for _, one := range w.stands() {
		p := a.path(one, sc)
		out = append(append(out, p), a.behindLinks(p, itself)...)
	}
	return out
}
