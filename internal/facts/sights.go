package facts

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/programs/index"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Sights are the programs that a text calls and that no entry describes.
type Sights struct {
	// Unknown are those that nothing knows, spelt as the text does, sorted: by a name that the index does not have, or by a path that
	// leads to no folder of installed programs and to none of what a project installs for itself.
	Unknown []string
	// Kinds are those of the others that the index has, by their names.
	Kinds map[string]index.Kind
}

// SightsOf looks the programs of a text up in the index. A file that the text itself makes is judged by how it is made, one whose text
// is among the contents by its text. Known are words of the text that are known where it runs.
func SightsOf(c Command, at Place, known []string) Sights {
	s := Sights{Kinds: map[string]index.Kind{}}
	for _, call := range c.Calls {
		if len(call.Argv) == 0 || call.Program == "" || isDescribed(call.Program) || !isName(call.Argv[0]) || isGuessed(call) {
			continue
		}
		word := call.Argv[0]
		kind := index.Of(call.Program)
		switch {
		case isOfSystem(word):
			if kind != "" {
				s.Kinds[call.Program] = kind
			}
		case slices.Contains(known, word):
		case strings.Contains(word, "/") && (isOfProject(word) || judges(word, c, at)):
		case !strings.Contains(word, "/") && kind != "":
			s.Kinds[call.Program] = kind
		default:
			s.Unknown = append(s.Unknown, word)
		}
	}
	s.Unknown = value.Sorted(s.Unknown)
	return s
}

// isDescribed says that an entry says what the program does, or how it reads its arguments. A version may stand behind the name.
func isDescribed(name string) bool {
	return programs.Known(name) || programs.Known(strings.TrimRight(name, "0123456789.-"))
}

// isGuessed says that a call stands in a text that another program may read as its commands, or not: a title, a part of sed's.
func isGuessed(call Call) bool {
	return slices.ContainsFunc(call.Wrappers, func(name string) bool {
		p := programs.Of(name)
		return p.Wraps == programs.ShellTexts || p.Grammar == "sed"
	})
}

// isName says that a text tells the word whole, and that a program may be called so: what holds a blank or a colon is prose.
func isName(word string) bool { return name.MatchString(word) }

var name = regexp.MustCompile(`^[\w./~][\w.+@,/~-]*$`)

// isOfSystem says that a path leads to a folder in which programs are installed for everybody.
func isOfSystem(word string) bool {
	return slices.ContainsFunc([]string{"/bin/", "/sbin/", "/usr/", "/opt/", "/nix/store/", "/snap/bin/"}, func(folder string) bool {
		return strings.HasPrefix(path.Clean(word), folder)
	})
}

// isOfProject says that a path leads to a folder into which a package manager installs programs for a project.
func isOfProject(word string) bool { return ofProject.MatchString(path.Clean(word)) }

var ofProject = regexp.MustCompile(`(^|/)(node_modules/\.bin|\.venv/bin|venv/bin)/[^/]+$`)

// judges says that the file at a path is judged besides: the text makes it, or its own text is read as a part of the request.
func judges(word string, c Command, at Place) bool {
	below := strings.TrimPrefix(path.Clean(word), "./")
	isIt := func(p string) bool { return p == word || path.Clean(p) == below || strings.HasSuffix(p, "/"+below) }
	if slices.ContainsFunc(c.Writes, isIt) || !path.IsAbs(word) && !strings.HasPrefix(word, "~") && compiles(c) {
		return true
	}
	if at.Contents == nil {
		return false
	}
	for p, content := range *at.Contents {
		if (content.Known || !content.Recent) && isIt(p) {
			return true
		}
	}
	return false
}

// compiles says that a text compiles something, so that a program below its folder may be what comes of it.
func compiles(c Command) bool {
	return slices.ContainsFunc(c.Programs, func(name string) bool {
		return builders[name] || programs.Description(programs.BaseName(name)).Fills == programs.Compiled
	})
}

// builders are programs that compile what the files of a project name, which are judged as such.
var builders = map[string]bool{"make": true, "gmake": true, "ninja": true, "cmake": true, "meson": true, "bazel": true, "go": true,
	"cargo": true, "rustc": true, "zig": true, "swift": true, "dune": true, "ghc": true, "stack": true, "cabal": true, "dotnet": true}
