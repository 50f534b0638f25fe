package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// fills remembers the content of the files that a call writes: copies of files that the text wrote,
// or its input. A file that gets the input in another form is not known.
func (a *analysis) fills(name string, inv *invocation, args *arguments) {
	if inv.made == 0 || inv.made > len(a.calls) {
		return
	}
	p := a.about(name).Own
	fills, args := a.fillsOf(name, args)
	switch {
	case fills == programs.Copied:
		a.copiesFiles(inv, args)
	case fills == programs.FromInput:
		for _, w := range args.operands {
			a.keep(a.path(w, inv.sc), inv.in, args.has("-a", "--append"))
		}
	case p.Grammar == "dd":
		a.copiesBlocks(inv, args)
	case p.Language == "" && (p.Input == "" || !takesInput(p, args)) && name != "tee" &&
		inv.in.present && inv.in.path == "" && inv.in.file == "":
		for _, written := range a.calls[inv.made-1].Writes {
			if !slices.Contains(inv.files.writes, written) {
				a.keep(written, unknown(inv.in.Taint), false)
			}
		}
	}
}

// copiesFiles follows the files that the text wrote and "cp" or its like copies.
func (a *analysis) copiesFiles(inv *invocation, args *arguments) {
	words, to, into := args.destination()
	for _, w := range words {
		s, ok := a.holds(w, inv.in, inv.sc, inv.sc)
		if !ok || to.text == "" {
			continue
		}
		target := a.path(to, inv.sc)
		if !into {
			a.keep(target, s, false)
		}
		a.keep(path.Join(target, path.Base(w.text)), s, false)
	}
}

// copiesBlocks follows the file that "dd" copies. With options that leave parts out it is unknown.
func (a *analysis) copiesBlocks(inv *invocation, args *arguments) {
	from, to := inv.in, ""
	for _, w := range args.operands {
		name, rest, _ := strings.Cut(w.text, "=")
		switch name {
		case "if":
			from = a.fileStream(part(w, rest), inv.in, inv.sc)
		case "of":
			to = a.path(part(w, rest), inv.sc)
		case "conv", "skip", "seek", "count", "iseek", "oseek":
			from = unknown(from.Taint)
		}
	}
	if from.present && (from.path == "" || from.found) {
		a.keep(to, from, false)
	}
}

// starts notes a file that is run while the text goes on; run reads it.
func (a *analysis) starts(p string, run func(stream)) {
	if p == "" || a.aside == 0 && a.rounds == 0 {
		return
	}
	a.start(p, run)
}

// modules reads the modules that a Python program imports, if the text wrote them.
func (a *analysis) modules(name string, inv *invocation, imported []string) {
	a.importsFound(name, "python", inv, imported)
	if !a.hasWrites() {
		return
	}
	for _, module := range imported {
		file := strings.ReplaceAll(module, ".", "/")
		for _, p := range a.writtenPaths() {
			if !a.spend(1) {
				return
			}
			for _, end := range []string{file + ".py", file + "/__init__.py", file + "/__main__.py"} {
				if p == end || strings.HasSuffix(p, "/"+end) {
					a.module(name, inv, p)
				}
			}
		}
	}
}

// module reads one of them, once.
func (a *analysis) module(name string, inv *invocation, p string) {
	s := a.writtenText(p)
	if slices.Contains(a.importedTexts, p) || a.onlyComputes(s, inv.sc.cwd) {
		return
	}
	a.importedTexts = append(a.importedTexts, p)
	a.ran(s.Taint)
	if s.known {
		a.python(name, inv, s.text)
	} else {
		a.hide()
	}
}
