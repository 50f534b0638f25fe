package lease

import (
	"path"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

// shown are the mounts of a sandbox: those of the decision and, behind each that may be written,
// the protected folders in it that are there, read-only. Guarded says whether there is any that
// may be written and names protected files.
func shown(mounts []bailiff.Mount) (all []bailiff.Mount, guarded bool) {
	if !slices.ContainsFunc(mounts, isGuarded) {
		return mounts, false
	}
	for _, m := range mounts {
		var folders []string
		if isGuarded(m) {
			folders = protected.Folders(m.Source, m.Protected)
		}
		m.Protected = nil // a sandbox is the same without the files that are compared
		all = append(all, m)
		for _, folder := range folders {
			all = append(all, bailiff.Mount{Source: path.Join(m.Source, folder), Target: path.Join(m.Target, folder), ReadOnly: true})
		}
	}
	return all, true
}

func isGuarded(m bailiff.Mount) bool { return !m.ReadOnly && len(m.Protected) > 0 }
