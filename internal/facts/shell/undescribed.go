package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// undescribed notes the paths that words without a description may name: all words of a program
// that nothing describes, the operands of one whose options alone are described, and the values of
// options that are not described.
func (e *effect) undescribed(p *programs.Program) {
	switch {
	case !e.entry.Explained:
		e.words(e.args.all)
	case p.Operands == programs.Unnamed && !p.Strict && e.entry.OnlyOptions:
		e.places(e.args.operands)
	}
	if p.Operands == programs.Text || p == &programs.Undescribed {
		return
	}
	for _, w := range e.args.operands { // a file of arguments
		if strings.HasPrefix(w.text, "@/") || strings.HasPrefix(w.text, "@~/") {
			e.read(part(w, w.text[1:]))
		}
	}
	for _, o := range e.args.options {
		if _, known := p.Options[o.name]; !known && strings.ContainsAny(o.value.text, "/~") {
			e.pathsIn(o.value, saysOutput(o.name))
		}
	}
}

// places notes the paths in words that are names of databases, keys and the like, too.
func (e *effect) places(words []word) {
	for _, w := range words {
		if strings.ContainsAny(w.text, "/~") && !e.url(w) {
			e.pathsIn(w, false)
		}
	}
}

// words notes the paths in words that a program is given.
func (e *effect) words(words []word) {
	written := false
	for _, w := range words {
		option, value, attached := strings.Cut(w.text, "=")
		dashed := strings.HasPrefix(option, "-")
		switch {
		case w.source != nil:
		case attached && plainName(strings.TrimLeft(option, "-")):
			e.pathsIn(part(w, value), saysOutput(option))
		case dashed && !strings.HasPrefix(option, "--") && strings.ContainsAny(w.text, "/~"):
			at := strings.IndexAny(w.text, "/~")
			e.pathsIn(part(w, w.text[at:]), at == 2 && saysOutput(w.text[:at]))
		case !dashed:
			e.pathsIn(w, written)
		}
		written = dashed && !attached && saysOutput(option)
	}
}

// plainName says that a text may be the name of an option or a variable.
func plainName(s string) bool { return !strings.ContainsAny(s, "/~ \t\n'\"@,:") }

// saysOutput says whether an option's name tells that a file is written.
func saysOutput(option string) bool {
	name := strings.TrimLeft(option, "-")
	switch name {
	case "o", "O", "w", "of":
		return true
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc(outputs, func(part string) bool { return strings.Contains(name, part) })
}

var outputs = []string{"out", "write", "save", "dest", "export", "dump", "logfile", "log-file"}

// quoted finds the paths in quotes inside a word.
var quoted = regexp.MustCompile(`['"]([~/][^'"\s]*)['"]`)

// pathsIn notes the path that a word may be, and those after "=", "@", ":" and "," in it.
func (e *effect) pathsIn(w word, written bool) {
	if e.url(w) || len(w.text) > maxPath {
		return
	}
	if strings.ContainsAny(w.text, " \t\n") {
		for _, found := range quoted.FindAllStringSubmatch(w.text, maxStarts) {
			e.path(part(w, found[1]), written)
		}
		return
	}
	e.path(w, written)
	for rest := w.text; ; {
		at := strings.IndexAny(rest, "=@:,")
		if at < 0 || !e.fs.spend(1) {
			return
		}
		rest = rest[at+1:]
		piece := rest
		if end := strings.IndexAny(rest, "=@:,"); end >= 0 {
			piece = rest[:end]
		}
		e.path(part(w, piece), written)
	}
}

// path notes a path, if the text may be one.
func (e *effect) path(w word, written bool) {
	switch at := e.fs.path(w, e.sc); {
	case !pathLike(w.text) || !w.glob && strings.ContainsAny(w.text, "*?[{"):
	case written:
		e.writes = e.fs.addNamed(e.writes, w, e.sc, true)
	case !slices.Contains(e.writes, at):
		e.reads = e.fs.addNamed(e.reads, w, e.sc, true)
	}
}

// pathLike is false for numbers, and for words such as the names of subcommands.
func pathLike(s string) bool {
	return strings.ContainsAny(s, "/._~") && strings.Trim(s, "0123456789.-+x%") != "" && !strings.HasPrefix(s, "-")
}
