package facts

import (
	"path"
	"strings"
)

// path is the file that a word names: cleaned, absolute where that is known, "~" for the home folder.
func (a *analysis) path(w word, sc *scope) string {
	if w.text == "" || w.text == "-" || w.text == ">(…)" || w.source != nil {
		return ""
	}
	p := a.place(w.text, sc.cwd)
	if len(sc.mounts) > 0 {
		p = sc.outside(p)
	}
	return p
}

func (a *analysis) place(p, cwd string) string {
	switch {
	case strings.HasPrefix(p, "/"):
		return a.fold(afterRoot(cleaned(p)))
	case p == "~" || strings.HasPrefix(p, "~/"):
		return a.homely(p)
	case strings.HasPrefix(p, "$"):
		return p // "$X/" is the root if X is empty
	case strings.HasPrefix(p, "~"), cwd == "":
		return cleaned(p)
	case strings.HasPrefix(cwd, "~"):
		return a.homely(cwd + "/" + p)
	}
	return a.fold(cleaned(cwd + "/" + p))
}

// cleaned is path.Clean where nothing unknown could be cut by "..".
func cleaned(p string) string {
	if strings.Contains(p, "$") && strings.Contains(p, "..") {
		return p
	}
	return path.Clean(p)
}

// homely cleans a path below the home folder; it may climb out of it.
func (a *analysis) homely(p string) string {
	rest := path.Clean("/h/h/h/h" + strings.TrimPrefix(p, "~"))
	below, ok := strings.CutPrefix(rest, "/h/h/h/h")
	if ok && (below == "" || below[0] == '/') {
		return "~" + below
	}
	if a.at.Home != "" {
		return a.fold(cleaned(a.at.Home + strings.TrimPrefix(p, "~")))
	}
	return p
}

func (a *analysis) fold(p string) string {
	home := a.at.Home
	if home == "" || home == "/" {
		return p
	}
	if rest, ok := strings.CutPrefix(p, path.Clean(home)); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return p
}

// afterRoot follows the links in /proc that lead back to the root.
func afterRoot(p string) string {
	if !strings.HasPrefix(p, "/proc/") {
		return p
	}
	_, rest, ok := strings.Cut(p[len("/proc/"):], "/root")
	if ok && (rest == "" || rest[0] == '/') {
		return cleaned("/" + rest)
	}
	return p
}
