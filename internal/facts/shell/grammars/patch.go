package grammars

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// patchFiles notes the files that a patch changes: those that its text names, where that is known.
// Where it is not, they may be any below the folder.
func (rd *Reader) patchFiles(name string, inv *call.Invocation, args *call.Arguments) {
	patch, file := inv.In, inv.In.File
	words := word.After(args.Operands, 1)
	if w, ok := args.Value("-i", "--input"); ok && name == "patch" {
		words = []word.Word{w}
	} else if name == "patch" && len(args.Operands) > 0 {
		rd.Rewrite(rd.Path(args.Operands[0], inv.Scope), file)
	}
	there := inv.Scope
	if dir, ok := args.Value(map[string][]string{"patch": {"-d", "--directory"}, "git": {"-C"}}[name]...); ok {
		there = rd.ScopeIn(dir, inv.Scope)
	}
	for _, w := range words {
		rd.Seek(w, there)
		file, patch = rd.FileAt(w, inv.Scope), rd.Stream(w, inv.Scope)
		rd.patchTargets(patch, file, inv, args)
	}
	if len(words) == 0 {
		rd.LookUps = state.AddPath(rd.LookUps, file)
		rd.patchTargets(patch, file, inv, args)
	}
}

// patchTargets notes the files that one patch changes.
func (rd *Reader) patchTargets(patch word.Stream, file string, inv *call.Invocation, args *call.Arguments) {
	switch {
	case patch.Known:
		for _, p := range rd.patchedPaths(patch, inv, args) {
			rd.Rewrite(p, file)
		}
	case patch.Present:
		folder := word.Of(".")
		if dir, ok := args.Value("-d", "--directory", "-C"); ok {
			folder = dir
		}
		rd.Transfer(rd.Path(folder, inv.Scope), overlay.SourcesOf(file), overlay.UnpackedInto)
	}
}

// Patch notes the files that a patch on the standard input changes.
func (rd *Reader) Patch(name string, inv *call.Invocation, args *call.Arguments) {
	rd.patchFiles(name, inv, args)
	rd.AddToCall(inv.Number, nil, rd.patchedPaths(inv.In, inv, args))
}

// patchedPaths are the files that a patch names.
func (rd *Reader) patchedPaths(patch word.Stream, inv *call.Invocation, args *call.Arguments) []string {
	e := effects.New(rd.FS, inv.Scope)
	strip, given := args.Value("-p", "--strip")
	for _, line := range strings.Split(patch.Text, "\n") {
		name, ok := strings.CutPrefix(line, "+++ ")
		if !ok {
			name, ok = strings.CutPrefix(line, "--- ")
		}
		if !ok || !rd.Spend(1) {
			continue
		}
		name, _, _ = strings.Cut(name, "\t")
		if !(given && strip.Text == "0") && !args.Has("-p0") && !strings.HasPrefix(name, "/") {
			_, name, _ = strings.Cut(name, "/")
		}
		if dir, ok := args.Value("-d", "--directory", "-C"); ok {
			name = path.Join(dir.Text, name)
		}
		e.Write(word.Word{Text: strings.TrimSpace(name), Known: patch.Known})
	}
	return e.Writes
}
