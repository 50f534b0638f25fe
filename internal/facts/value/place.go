package value

import (
	"path"
	"slices"
	"strings"
)

// Place is where a text would run. An empty field is unknown: relative paths
// then stay relative.
type Place struct {
	Workdir string
	// Home lets an absolute home path be written "~".
	Home string
	// Astray says that an empty Workdir is not where the request starts.
	Astray bool
	// Ground is where the paths of the text are noted, and what is known of the links there.
	Ground *Ground
	// Level counts the programs that the text lies in.
	Level int
	// Contents are files whose text is read where the text runs them, by their paths as in
	// [Command.Files].
	Contents *Contents
	// Within are those of them that the text lies in, nil if there are none.
	Within *[]string
	// Fresh says that a Python program has an interpreter of its own, which has run nothing before.
	Fresh bool
	// Earlier are the programs that ran before in the interpreter of a Python program, whose names it finds; nil if none did. All of
	// them are read as one program.
	Earlier *[]string
	// Settled says that the text is a part of a file that is not recent.
	Settled bool
}

// Contents are files by their paths.
type Contents map[string]Content

// Content is what a file holds, where it is Known. A Recent file may have been made by the
// session; of another one, a part whose meaning its text does not tell is like any part of a
// project. A Folder has no text: a program that is given one runs a file in it.
type Content struct {
	Text                  string
	Known, Recent, Folder bool
}

// Path is a path as seen from a folder: cleaned, absolute where that is known, "~" for the
// home folder.
func (at Place) Path(p, cwd string) string {
	if strings.HasPrefix(p, "/proc/") {
		p = ofProcess(p)
	}
	switch {
	case strings.HasPrefix(p, "/"):
		return at.fold(CleanPath(p))
	case p == "~" || strings.HasPrefix(p, "~/"):
		return at.homely(p)
	case strings.HasPrefix(p, "$"):
		return p // "$X/" is the root if X is empty
	case strings.HasPrefix(p, "~"), cwd == "":
		return CleanPath(p)
	case strings.HasPrefix(cwd, "~"):
		return at.homely(cwd + "/" + p)
	}
	return at.fold(CleanPath(cwd + "/" + p))
}

// CleanPath is path.Clean where nothing unknown could be cut by "..".
func CleanPath(p string) string {
	if strings.Contains(p, "$") && strings.Contains(p, "..") {
		return p
	}
	return path.Clean(p)
}

// homely cleans a path below the home folder; it may climb out of it.
func (at Place) homely(p string) string {
	rest := path.Clean("/h/h/h/h" + strings.TrimPrefix(p, "~"))
	below, ok := strings.CutPrefix(rest, "/h/h/h/h")
	if ok && (below == "" || below[0] == '/') {
		return "~" + below
	}
	if at.Home != "" {
		return at.fold(CleanPath(at.Home + strings.TrimPrefix(p, "~")))
	}
	return p
}

func (at Place) fold(p string) string {
	home := at.Home
	if home == "" || home == "/" {
		return p
	}
	if rest, ok := strings.CutPrefix(p, path.Clean(home)); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return p
}

// ofProcess follows the links in /proc that lead back to the root or to the working
// directory. That of a process that is not known to be this one may be any folder.
func ofProcess(p string) string {
	var last string
	parts := slices.DeleteFunc(strings.Split(p, "/"), func(s string) bool { return s == "" || s == "." })
	for i, part := range parts[1:] {
		rest := strings.Join(parts[i+2:], "/")
		switch {
		case part == "..":
			return p
		case part == "root" && i > 0:
			return "/" + strings.TrimLeft(CleanPath("/"+rest), "/")
		case part == "cwd" && i > 0 && (last == "self" || last == "thread-self" || last == "$$" || last == "task"):
			return "./" + rest
		case part == "cwd" && i > 0:
			return "$(…)/" + rest
		}
		if strings.Trim(part, "0123456789") != "" {
			last = part
		}
	}
	return p
}

// Tidy drops what no file system looks at.
func Tidy(p string) string {
	if isTidy(p) {
		return p
	}
	kept := slices.DeleteFunc(strings.Split(p, "/"), func(s string) bool { return s == "" || s == "." })
	if strings.HasPrefix(p, "/") {
		return "/" + strings.Join(kept, "/")
	}
	return strings.Join(kept, "/")
}

// isTidy says that every part of a path counts.
func isTidy(p string) bool {
	return p != "." && !strings.HasPrefix(p, "./") && !strings.HasSuffix(p, "/.") && !strings.HasSuffix(p, "/") &&
		!strings.Contains(p, "//") && !strings.Contains(p, "/./")
}
