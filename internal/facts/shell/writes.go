package shell

import (
	"path"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// link notes the links that a call makes, at the name that it gives and below it, since that may
// be a folder.
func (a *analysis) link(inv *call.Invocation, name string, args *call.Arguments) {
	made := a.about(name).Own.Links
	if len(made) == 0 || !slices.Contains(made, "always") && !args.Has(made...) {
		return
	}
	words, to, _ := args.Destination()
	for _, w := range words {
		target := w
		if args.Has("-s", "--symbolic", "--symbolic-link") && !word.IsRooted(w.Text) && to.Text != "" {
			target = word.Part(w, path.Join(path.Dir(to.Text), w.Text))
		}
		link := a.Path(to, inv.Scope)
		if to.Text == "" {
			link = a.At.Path(path.Base(w.Text), inv.Scope.Folder)
		} else {
			a.Link(path.Join(link, path.Base(w.Text)), a.Path(target, inv.Scope))
		}
		a.Link(link, a.Path(target, inv.Scope))
	}
}
