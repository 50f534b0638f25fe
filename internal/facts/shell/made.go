package shell

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// fillsOf says how a call fills the files that it writes, and the words that name them.
func (a *analysis) fillsOf(name string, args *call.Arguments) (programs.Fills, *call.Arguments) {
	fills := a.about(name).Own.Fills
	if args.Verb == nil {
		return fills, args
	}
	if fills = args.Verb.Own.Fills; fills == "" {
		return "", args
	}
	verb := *args
	verb.Operands = args.Operands[1:]
	return fills, &verb
}

// spread notes what a program makes of the files that it is given, beside those that it names
// as written: unpacked files, parts of a file, files that lose their ending.
func (a *analysis) spread(fills programs.Fills, inv *call.Invocation, args *call.Arguments) {
	if fills == programs.Parts {
		prefix := word.Of("x")
		if len(args.Operands) > 1 {
			prefix = args.Operands[1]
		}
		if w, ok := args.Value("-f", "--prefix"); ok {
			prefix = w
		}
		from := overlay.SourcesOf(a.FileAt(word.First(args.Operands), inv.Scope))
		a.Transfer(path.Dir(a.Path(prefix, inv.Scope)), from, overlay.UnpackedInto)
		return
	}
	for _, w := range args.Operands {
		if p := a.Path(w, inv.Scope); p != "" {
			a.Rewrite(strings.TrimSuffix(p, path.Ext(p)), a.FileAt(w, inv.Scope))
		}
	}
}

// editsUnseen says that a program writes into files what no description tells.
func (a *analysis) editsUnseen(name string) bool {
	p := a.about(name)
	kind := p.Described.Operands
	return a.At.Contents != nil && (!p.Explained || kind == programs.First || kind == programs.Script || p.Language != "")
}
