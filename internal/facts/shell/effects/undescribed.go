package effects

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// unknownWords notes the paths that words without a description may name: all words of a program
// that nothing describes, the operands of one whose options alone are described, and the values of
// options that are not described.
func (e *Collector) unknownWords(p *programs.Program) {
	switch {
	case !e.entry.Explained:
		e.words(e.Args.All)
	case p.Operands == programs.Unnamed && !p.Strict && e.entry.OnlyOptions:
		e.places(e.Args.Operands)
	}
	if p.Operands == programs.Text || p == &programs.Undescribed {
		return
	}
	for _, w := range e.Args.Operands { // a file of arguments
		if strings.HasPrefix(w.Text, "@/") || strings.HasPrefix(w.Text, "@~/") {
			e.Read(word.Part(w, w.Text[1:]))
		}
	}
	for _, o := range e.Args.Options {
		if _, known := p.Options[o.Name]; !known && strings.ContainsAny(o.Value.Text, "/~") {
			e.pathsIn(o.Value, saysOutput(o.Name))
		}
	}
}

// places notes the paths in words that are names of databases, keys and the like, too.
func (e *Collector) places(words []word.Word) {
	for _, w := range words {
		if strings.ContainsAny(w.Text, "/~") && !e.URL(w) {
			e.pathsIn(w, false)
		}
	}
}

// words notes the paths in words that a program is given.
func (e *Collector) words(words []word.Word) {
	written := false
	for _, w := range words {
		option, value, attached := strings.Cut(w.Text, "=")
		dashed := strings.HasPrefix(option, "-")
		switch {
		case w.Source != nil:
			e.listed(w.Source.Text)
		case attached && plainName(strings.TrimLeft(option, "-")):
			e.pathsIn(word.Part(w, value), saysOutput(option))
		case dashed && !strings.HasPrefix(option, "--") && strings.ContainsAny(w.Text, "/~"):
			at := strings.IndexAny(w.Text, "/~")
			e.pathsIn(word.Part(w, w.Text[at:]), at == 2 && saysOutput(w.Text[:at]))
		case !dashed:
			e.pathsIn(w, written)
		}
		written = dashed && !attached && saysOutput(option)
	}
}

// listed notes the paths in a text that a program is given in place of a file: it may be a list of files.
func (e *Collector) listed(text string) {
	if len(text) > state.MaxPath {
		return
	}
	for _, field := range strings.Fields(text) {
		if field = strings.Trim(field, `'"`); word.IsRooted(field) || strings.HasPrefix(field, "~") {
			e.path(word.Word{Text: field, Known: true, Home: strings.HasPrefix(field, "~")}, false)
		}
	}
}

// givenPaths finds the paths that a program of another language gives its functions.
var givenPaths = regexp.MustCompile(`\w\(\s*['"]([~/][^'"\s]*)['"]`)

// scriptFiles notes the paths that the functions of a program in an operand are given.
func (e *Collector) scriptFiles(ops []word.Word) {
	if len(ops) == 0 || !strings.Contains(ops[0].Text, "(") {
		return
	}
	for _, found := range givenPaths.FindAllStringSubmatch(ops[0].Text, maxQuoted) {
		e.path(word.Part(ops[0], found[1]), false)
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

// maxQuoted is how many paths in quotes a word is taken to name.
const maxQuoted = 3

// quotedPaths finds the paths in quotes inside a word.
var quotedPaths = regexp.MustCompile(`['"]([~/][^'"\s]*)['"]`)

// pathsIn notes the path that a word may be, and those after "=", "@", ":" and "," in it.
func (e *Collector) pathsIn(w word.Word, written bool) {
	if e.URL(w) || len(w.Text) > state.MaxPath {
		return
	}
	if strings.ContainsAny(w.Text, " \t\n'\"") {
		for _, found := range quotedPaths.FindAllStringSubmatch(w.Text, maxQuoted) {
			e.path(word.Part(w, found[1]), written)
		}
		return
	}
	e.path(w, written)
	for rest := w.Text; ; {
		at := strings.IndexAny(rest, "=@:,")
		if at < 0 || !e.FS.Spend(1) {
			return
		}
		rest = rest[at+1:]
		piece := rest
		if end := strings.IndexAny(rest, "=@:,"); end >= 0 {
			piece = rest[:end]
		}
		e.path(word.Part(w, piece), written)
	}
}

// path notes a path, if the text may be one.
func (e *Collector) path(w word.Word, written bool) {
	switch at := e.FS.Path(w, e.Scope); {
	case !pathLike(w.Text) || !w.Glob && strings.ContainsAny(w.Text, "*?[{"):
	case written:
		e.Writes = e.FS.AddNames(e.Writes, w, e.Scope, true)
	case !slices.Contains(e.Writes, at):
		e.Reads = e.FS.AddNames(e.Reads, w, e.Scope, true)
	}
}

// pathLike is false for numbers, and for words such as the names of subcommands.
func pathLike(s string) bool {
	return strings.ContainsAny(s, "/._~") && strings.Trim(s, "0123456789.-+x%") != "" && !strings.HasPrefix(s, "-")
}
