package overlay

import (
	"path"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// maxLinks is how many links a path may lead through.
const maxLinks = 8

// Link notes a link that the text makes.
func (fs *FS) Link(link, target string) {
	if fs.links == nil {
		fs.links = map[string]string{}
	}
	switch {
	case link == "" || target == "" || link == target:
	case len(fs.links) >= state.MaxVariables:
		fs.Hide()
	default:
		fs.links[link] = target
	}
}

// targets are the paths that a path means too if the links are there that the text
// makes. With itself a link at the end of the path is followed: readers do so, a deletion does not.
func (fs *FS) targets(p string, itself bool) []string {
	if len(fs.links) == 0 {
		return nil
	}
	var out []string
	for seen := []string{p}; len(seen) > 0 && len(out) < maxLinks; seen = seen[1:] {
		for _, through := range fs.step(seen[0], itself) {
			if !slices.Contains(out, through) {
				out, seen = append(out, through), append(seen, through)
			}
		}
	}
	return out
}

func (fs *FS) step(p string, itself bool) []string {
	var out []string
	for end := len(p); end > 0; end-- {
		if end < len(p) && p[end] != '/' || end == len(p) && !itself {
			continue
		}
		if target, ok := fs.links[p[:end]]; ok && fs.Spend(1) {
			out = append(out, fs.At.Path(target+p[end:], ""))
		}
		for link, target := range fs.links {
			if matched, err := path.Match(p[:end], link); word.HasWildcard(p[:end]) && err == nil && matched && fs.Spend(1) {
				out = append(out, fs.At.Path(target+p[end:], ""))
			}
		}
	}
	slices.Sort(out)
	return out
}
