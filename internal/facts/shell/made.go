package shell

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// fillsOf says how a call fills the files that it writes, and the words that name them.
func (a *analysis) fillsOf(name string, args *arguments) (programs.Fills, *arguments) {
	fills := a.about(name).Own.Fills
	if args.verb == nil {
		return fills, args
	}
	if fills = args.verb.Own.Fills; fills == "" {
		return "", args
	}
	verb := *args
	verb.operands = args.operands[1:]
	return fills, &verb
}

// spread notes what a program makes of the files that it is given, beside those that it names
// as written: unpacked files, parts of a file, files that lose their ending.
func (a *analysis) spread(fills programs.Fills, inv *invocation, args *arguments) {
	if fills == programs.Parts {
		prefix := known("x")
		if len(args.operands) > 1 {
			prefix = args.operands[1]
		}
		if w, ok := args.value("-f", "--prefix"); ok {
			prefix = w
		}
		a.transferTo(path.Dir(a.path(prefix, inv.sc)), sourcesOf(a.fileAt(first(args.operands), inv.sc)), unpackedInto)
		return
	}
	for _, w := range args.operands {
		if p := a.path(w, inv.sc); p != "" {
			a.madeUnknown(strings.TrimSuffix(p, path.Ext(p)), a.fileAt(w, inv.sc))
		}
	}
}

// editsUnseen says that a program writes into files what no description tells.
func (a *analysis) editsUnseen(name string) bool {
	p := a.about(name)
	kind := p.Described.Operands
	return a.at.Contents != nil && (!p.Explained || kind == programs.First || kind == programs.Script || p.Language != "")
}
