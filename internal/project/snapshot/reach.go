package snapshot

import (
	"path"
	"strings"
)

// Unkept is a file or folder that a snapshot has not.
type Unkept struct {
	// Path is seen from the folder.
	Path string `json:"path"`
	Why  string `json:"why"`
	// Ignored says that git leaves it alone, with all that it discards.
	Ignored bool `json:"ignored,omitempty"`
}

// Reach is what a command may change of the folders, as far as its text tells.
type Reach struct {
	// Paths are the files, folders and patterns of these that it names, absolute as it sees them; All is false where it may change more.
	Paths []string
	All   bool
	// Git says that git may discard files that the text does not name.
	Git bool
}

// endangers says whether a command may change what a snapshot has not of a folder that the command sees at a path.
func (r Reach) endangers(at string, u Unkept) bool {
	if !r.All || r.Git && !u.Ignored {
		return true
	}
	for _, p := range r.Paths {
		if overlap(p, path.Join(at, u.Path)) {
			return true
		}
	}
	return false
}

// overlap says whether a pattern may name a file, a folder above it, or something below it.
func overlap(pattern, file string) bool {
	of := strings.Split(strings.Trim(file, "/"), "/")
	for i, part := range strings.Split(strings.Trim(path.Clean(pattern), "/"), "/") {
		if i == len(of) || part == "" || strings.Contains(part, "**") || strings.ContainsAny(part, "$({`\x00") {
			return true
		}
		if is, err := path.Match(part, of[i]); err == nil && !is {
			return false
		}
	}
	return true
}
