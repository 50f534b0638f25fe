package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/words"
)

// patching is what a patch in the format "*** Begin Patch" does to this machine's
// files. A line that could name a file is taken to name one.
func (c call) patching(patch string) (meaning, error) {
	var changed, removed []string
	for line := range strings.Lines(patch) {
		verb, path, ok := strings.Cut(strings.TrimSpace(line), ": ")
		verb, named := strings.CutPrefix(verb, "*** ")
		if !ok || !named {
			continue
		}
		paths, err := c.paths(strings.TrimSpace(path))
		if err != nil {
			return meaning{}, err
		}
		switch verb {
		case "Add File", "Update File", "Move to":
			changed = append(changed, paths...)
		case "Delete File":
			removed = append(removed, paths...)
		default:
			return meaning{}, fmt.Errorf("%.80q is nothing that a patch is known to do", strings.TrimSpace(line))
		}
	}
	return patchCommand(changed, removed)
}

func patchCommand(changed, removed []string) (meaning, error) {
	var commands []string
	if len(changed) > 0 {
		commands = append(commands, changing(changed...).command)
	}
	if len(removed) > 0 {
		commands = append(commands, words.Join(append([]string{"rm", "--"}, removed...)...))
	}
	if len(commands) == 0 {
		return meaning{}, errors.New("the patch names no file")
	}
	return meaning{kind: hostly, command: strings.Join(commands, " && ")}, nil
}
