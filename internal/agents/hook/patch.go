package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// patching is what a patch in the format "*** Begin Patch" does to this machine's
// files. A line that could name a file is taken to name one, and one that some client
// could take for a marker is written exactly like one, or the patch is refused.
func (c Call) patching(patch string) (Meaning, error) {
	var changed, removed []string
	linked := false
	for line := range strings.Lines(patch) {
		mark := marker(line)
		verb, path, ok := strings.Cut(mark, ": ")
		if mark == "" || slices.Contains(patchFrame, mark) {
			continue
		}
		paths, err := c.Paths(path)
		linked = linked || len(paths) > 1
		switch {
		case !ok:
			return Meaning{}, unknownMarker(mark)
		case err != nil:
			return Meaning{}, err
		case slices.Contains(patchChanges, verb):
			changed = append(changed, paths...)
		case verb == "*** Delete File":
			removed = append(removed, paths...)
		default:
			return Meaning{}, unknownMarker(mark)
		}
	}
	m, err := patchCommand(changed, removed)
	m.Linked = linked
	return m, err
}

var (
	patchFrame   = []string{"*** Begin Patch", "*** End Patch", "*** End of File"}
	patchChanges = []string{"*** Add File", "*** Update File", "*** Move to"}
)

// marker is what a line holds that begins like a marker. One client trims its lines
// first, one does not know an indented marker but takes others' spellings: so only
// what is content by its first character may look like a marker of no known verb.
func marker(line string) string {
	mark := strings.TrimFunc(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	content := line[0] == ' ' && !strings.Contains(mark, ": ")
	if content || !strings.HasPrefix(mark, "***") {
		return ""
	}
	return mark
}

func unknownMarker(mark string) error {
	return fmt.Errorf("%.80q is nothing that a patch is known to do", mark)
}

func patchCommand(changed, removed []string) (Meaning, error) {
	switch {
	case len(changed) > 0 && len(removed) > 0:
		return changing(changed...).and(removing(removed...)), nil
	case len(changed) > 0:
		return changing(changed...), nil
	case len(removed) > 0:
		return removing(removed...), nil
	}
	return Meaning{}, errors.New("the patch names no file")
}
