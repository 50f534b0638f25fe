package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// fills remembers the content of the files that a call writes: copies of files that the text wrote,
// or its input. A file that gets the input in another form is not known.
func (a *analysis) fills(name string, inv *call.Invocation, args *call.Arguments) {
	if inv.Number == 0 || inv.Number > len(a.Calls) {
		return
	}
	p := a.about(name).Own
	fills, args := a.fillsOf(name, args)
	switch {
	case fills == programs.Copied:
		a.copiesFiles(inv, args)
	case fills == programs.FromInput:
		for _, w := range args.Operands {
			a.Write(a.Path(w, inv.Scope), inv.In, args.Has("-a", "--append"))
		}
	case p.Grammar == "dd":
		a.copiesBlocks(inv, args)
	case p.Language == "" && (p.Input == "" || !takesInput(p, args)) && name != "tee" &&
		inv.In.Present && inv.In.Path == "" && inv.In.File == "":
		for _, written := range a.Calls[inv.Number-1].Writes {
			if !slices.Contains(inv.Redirections.Writes, written) {
				a.Write(written, word.Unknown(inv.In.Taint), false)
			}
		}
	}
}

// copiesFiles follows the files that the text wrote and "cp" or its like copies.
func (a *analysis) copiesFiles(inv *call.Invocation, args *call.Arguments) {
	words, to, into := args.Destination()
	for _, w := range words {
		s, ok := a.Content(w, inv.In, inv.Scope, inv.Scope)
		if !ok || to.Text == "" {
			continue
		}
		target := a.Path(to, inv.Scope)
		if !into {
			a.Write(target, s, false)
		}
		a.Write(path.Join(target, path.Base(w.Text)), s, false)
	}
}

// copiesBlocks follows the file that "dd" copies. With options that leave parts out it is unknown.
func (a *analysis) copiesBlocks(inv *call.Invocation, args *call.Arguments) {
	from, to := inv.In, ""
	for _, w := range args.Operands {
		name, rest, _ := strings.Cut(w.Text, "=")
		switch name {
		case "if":
			from = a.Source(word.Part(w, rest), inv.In, inv.Scope)
		case "of":
			to = a.Path(word.Part(w, rest), inv.Scope)
		case "conv", "skip", "seek", "count", "iseek", "oseek":
			from = word.Unknown(from.Taint)
		}
	}
	if from.Present && (from.Path == "" || from.OnDisk) {
		a.Write(to, from, false)
	}
}

// starts notes a file that is run while the text goes on; run reads it.
func (a *analysis) starts(p string, run func(word.Stream)) {
	if p == "" || a.aside == 0 && a.rounds == 0 {
		return
	}
	a.Start(p, run)
}

// modules reads the modules that a Python program imports, if the text wrote them.
func (a *analysis) modules(name string, inv *call.Invocation, imported []string) {
	a.importsFound(name, "python", inv, imported)
	if !a.HasWrites() {
		return
	}
	for _, module := range imported {
		file := strings.ReplaceAll(module, ".", "/")
		for _, p := range a.WrittenPaths() {
			if !a.Spend(1) {
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
func (a *analysis) module(name string, inv *call.Invocation, p string) {
	s := a.WrittenText(p)
	if slices.Contains(a.importedTexts, p) || a.onlyComputes(s, inv.Scope.Folder) {
		return
	}
	a.importedTexts = append(a.importedTexts, p)
	a.NoteRun(s.Taint)
	if s.Known {
		a.python(name, inv, s.Text)
	} else {
		a.Hide()
	}
}
