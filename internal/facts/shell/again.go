package shell

import "strings"

// again hides what a text does if it is read as arithmetic or as the name of an
// array's element: the shell expands such a text once more, so that in
// "a[$(command)]" the command runs.
func (a *analysis) again(w word) {
	_, index, ok := strings.Cut(w.text, "[")
	if ok && (strings.Contains(index, "`") || strings.Contains(strings.ReplaceAll(index, "$(…)", ""), "$(")) {
		a.hide()
	}
}
