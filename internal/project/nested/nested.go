// Package nested keeps git directories that commands in a sandbox made within a project where the git of the project's
// user does not find them.
//
// The settings of a repository decide what git starts in its folder later, be it the git of a prompt. So its git directory, or the
// file .git that names one, is exchanged for a link. In sandboxes the link leads to it, so that git goes on there, also in the
// middle of a command; a folder that is renamed takes its link along. Outside the link leads nowhere: git passes it over, and the
// folder has plain files.
//
// Promised: the exchange is one step, in which no command finds nothing; no link of a command's leads it elsewhere; what is kept is
// in a folder that only sandboxes of the one project show.
//
// Not here: which git directories are new (internal/secrets/protected); how a person gets one (internal/project/carry).
package nested

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// inside is the folder of sandboxes below which git directories of projects are shown. This machine has none at this path.
const inside = "/run/bailiff/nested"

var linkText = regexp.MustCompile(`^` + inside + `/[0-9a-f]{24}/[A-Z2-7]{26}$`)

// IsLink says whether the text of a link is one that leads to a kept git directory in sandboxes, and nowhere outside.
func IsLink(text string) bool { return linkText.MatchString(text) }

// Place is where the git directories are that were made in one project. The zero value is none.
type Place struct {
	// Folder is on this machine, and shown at the target.
	Folder, target string
}

// Of is the place of a project's folder, below a folder of the sidecar's state.
func Of(state, source string) Place {
	key := keyOf(source)
	return Place{filepath.Join(state, "nested", key), path.Join(inside, key)}
}

func keyOf(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:12])
}

// Mount shows the place in a sandbox.
func (p Place) Mount() bailiff.Mount { return bailiff.Mount{Source: p.Folder, Target: p.target} }

// Shown is the place of a project's folder in a sandbox that shows these folders of the sidecar's own; none if it shows none.
func Shown(own []bailiff.Mount, source string) Place {
	target := path.Join(inside, keyOf(source))
	i := slices.IndexFunc(own, func(m bailiff.Mount) bool { return m.Target == target })
	if i < 0 {
		return Place{}
	}
	return Place{own[i].Source, target}
}
