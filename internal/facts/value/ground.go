package value

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// MaxPaths is how many paths of one text are looked at.
const MaxPaths = 1000

// Ground is the file system below a text: the paths that the text names, and the links that
// were found on their way. A nil one has none, and notes nothing. It belongs to one reading.
type Ground struct {
	// Links are, by the paths of the links, spelt as the text's own, the other names of what each
	// leads to.
	Links   map[string][]string
	named   map[string]bool
	implied []bailiff.Implied
	// more says that the text names more paths than are looked at.
	more bool
}

// Paths are those that the text names, sorted, and whether these are all.
func (g *Ground) Paths() (paths []string, all bool) {
	for p := range g.named {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths, !g.more
}

// Name notes a path as it will be opened: ".." is for the file system to follow.
func (g *Ground) Name(p string) {
	switch {
	case g == nil || p == "" || strings.HasPrefix(p, "$") || g.named[p]:
	case len(g.named) >= MaxPaths:
		g.more = true
	default:
		if g.named == nil {
			g.named = map[string]bool{}
		}
		g.named[p] = true
	}
}

// maxImplied is how many such places of a text are told. With more the last one is everywhere, and the paths are not all.
const maxImplied = 64

// Imply notes such a place, spelt as the paths are.
func (g *Ground) Imply(kind bailiff.ImpliedKind, folder string) {
	at := bailiff.Implied{Kind: kind, Folder: folder}
	switch {
	case g == nil || slices.Contains(g.implied, at):
	case len(g.implied) < maxImplied:
		g.implied = append(g.implied, at)
	case len(g.implied) == maxImplied:
		g.implied, g.more = append(g.implied, bailiff.Implied{Kind: bailiff.ImpliedPackages, Folder: "$"}), true
	}
}

// Implied are the places, in the order of the text.
func (g *Ground) Implied() []bailiff.Implied {
	if g == nil {
		return nil
	}
	return g.implied
}

// Others are the other names of a path. With itself a link at the end of the path is followed:
// readers do so, a deletion does not.
func (g *Ground) Others(p string, itself bool) (names []string) {
	if g == nil || len(g.Links) == 0 {
		return nil
	}
	for end := range len(p) + 1 {
		if end > 0 && end < len(p) && p[end] == '/' || end == len(p) && itself {
			for _, target := range g.behind(p[:end]) {
				names = append(names, path.Clean(target+p[end:]))
			}
		}
	}
	return Sorted(names)
}

// behind is what a link leads to, or each that a pattern may stand for.
func (g *Ground) behind(link string) []string {
	if !IsPattern(link) {
		return g.Links[link]
	}
	var all []string
	for other, targets := range g.Links {
		if Fits(link, other) {
			all = append(all, targets...)
		}
	}
	return all
}

// IsPattern says that a path, or a part of one, may stand for several.
func IsPattern(p string) bool { return strings.ContainsAny(p, `*?[{(\`) }

// Fits says whether a path may be one that a pattern stands for, part by part. A part in which
// more is special than "*" and "?" may be any.
func Fits(pattern, p string) bool {
	want, parts := strings.Split(pattern, "/"), strings.Split(p, "/")
	if len(want) != len(parts) {
		return false
	}
	for i, part := range parts {
		if ok, _ := path.Match(want[i], part); !ok && !strings.ContainsAny(want[i], `[{(\`) {
			return false
		}
	}
	return true
}
