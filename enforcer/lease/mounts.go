package lease

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

// Repositories show a sandbox private git directories in place of those of a folder.
type Repositories interface {
	// Mounts are none if the folder has no repository, or one that cannot be kept apart.
	Mounts(dir, target string, u backends.User) []bailiff.Mount
}

// ownMounts are the private git directories for the mounts of a decision, where the backend can show any.
func (p *Pool) ownMounts(backend string, mounts []bailiff.Mount) (all []bailiff.Mount) {
	lender, ok := p.config.Backends[backend].(backends.Lender)
	if !ok || p.config.Repositories == nil {
		return nil
	}
	u, ok := lender.Whose()
	for _, m := range mounts {
		if ok && isGuarded(m) {
			all = append(all, p.config.Repositories.Mounts(m.Source, m.Target, u)...)
		}
	}
	return all
}

// Guarded are mounts with what has to be compared in them: of a repository that a sandbox does not see, since it has a private
// git directory in its place, only those files that lie elsewhere in the folder and to which its settings and links lead.
func Guarded(mounts, own []bailiff.Mount) []bailiff.Mount {
	all := slices.Clone(mounts)
	for i, m := range all {
		if !slices.ContainsFunc(own, func(o bailiff.Mount) bool { return o.Target == path.Join(m.Target, ".git") }) {
			continue
		}
		var unseen []string
		all[i].Protected = nil
		for _, pattern := range m.Protected {
			if pattern == ".git" || strings.HasPrefix(pattern, ".git/") {
				unseen = append(unseen, pattern)
			} else {
				all[i].Protected = append(all[i].Protected, pattern)
			}
		}
		for _, name := range protected.Further(m.Source, unseen) {
			if !strings.HasPrefix(name, ".git/") && !slices.Contains(all[i].Protected, name) {
				all[i].Protected = append(all[i].Protected, name)
			}
		}
	}
	return all
}

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

// placesOf says which files and folders of this machine lie beneath the mounts within others. A mount goes with the folder that
// it lies on: once this is removed or renamed, here or in the sandbox, the sandbox shows what is at the path instead.
func placesOf(outer, all []bailiff.Mount) string {
	var places []string
	for _, inner := range all {
		for _, m := range outer {
			rel, isWithin := strings.CutPrefix(inner.Target, m.Target+"/")
			if !isWithin {
				continue
			}
			place := "none"
			if info, err := os.Lstat(path.Join(m.Source, rel)); err == nil {
				if stat, ok := info.Sys().(*syscall.Stat_t); ok {
					place = fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
				}
			}
			places = append(places, inner.Target+"="+place)
		}
	}
	return strings.Join(places, " ")
}

// IsDisplaced says whether a mount of the sandbox within another has lost its place since the sandbox was made. Mounts are
// those of the decision.
func (l *Lease) IsDisplaced(mounts []bailiff.Mount) bool {
	return l.spec.Places != placesOf(mounts, slices.Concat(l.spec.Mounts, l.spec.Own))
}

// DropDisplaced ends what runs in a sandbox that shows what mounts hid, and removes it.
func (l *Lease) DropDisplaced() { l.pool.dropOne(l, reasonDisplaced) }
