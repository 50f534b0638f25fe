package shell

import (
	"path"
	"slices"
)

// link notes the links that a call makes, at the name that it gives and below it, since that may
// be a folder.
func (a *analysis) link(inv *invocation, name string, args *arguments) {
	made := a.about(name).Own.Links
	if len(made) == 0 || !slices.Contains(made, "always") && !args.has(made...) {
		return
	}
	words, to, _ := args.destination()
	for _, w := range words {
		target := w
		if args.has("-s", "--symbolic", "--symbolic-link") && !rooted(w.text) && to.text != "" {
			target = part(w, path.Join(path.Dir(to.text), w.text))
		}
		link := a.path(to, inv.sc)
		if to.text == "" {
			link = a.at.Path(path.Base(w.text), inv.sc.cwd)
		} else {
			a.linked(path.Join(link, path.Base(w.text)), a.path(target, inv.sc))
		}
		a.linked(link, a.path(target, inv.sc))
	}
}
