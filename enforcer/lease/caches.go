package lease

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// Caches keep what the tools of projects fetched and built.
type Caches interface {
	// Show makes what is not there yet of a holder's, and says how it is shown beside mounts.
	Show(holder []string, mounts []bailiff.Mount, u backends.User) ([]bailiff.Mount, error)
}

// holderOf is whose caches a sandbox is to show: of the request's user, with the project in which the request is to run. Where
// the folder is in no project, or sessions share the sandbox, the projects are all that may be written there. Nil is no holder:
// without a user or a project nothing is kept, and a sandbox for one request, which may hold secrets, finds nothing that an
// earlier command left.
func (t Spec) holderOf(mounts []bailiff.Mount, workdir string) []string {
	var projects []string
	workdir, at := path.Clean(workdir), ""
	for _, m := range mounts {
		if m.ReadOnly {
			continue
		}
		projects = append(projects, m.Source)
		if isIn := workdir == m.Target || strings.HasPrefix(workdir, m.Target+"/"); isIn && len(m.Target) > len(at) && !t.shared {
			at = m.Target
		}
	}
	if t.user == "" || t.alone || len(projects) == 0 {
		return nil
	}
	if i := slices.IndexFunc(mounts, func(m bailiff.Mount) bool { return m.Target == at }); i >= 0 {
		projects = []string{mounts[i].Source}
	}
	slices.Sort(projects)
	return append([]string{t.user}, projects...)
}

// withCaches are the sidecar's own folders that a new sandbox shows, the caches of a holder among them.
func (p *Pool) withCaches(holder []string, backend string, spec backends.Spec) ([]bailiff.Mount, error) {
	lender, ok := p.config.Backends[backend].(backends.Lender)
	if !ok || p.config.Caches == nil || holder == nil {
		return spec.Own, nil
	}
	u, ok := lender.Whose()
	if !ok {
		return spec.Own, nil
	}
	shown, err := p.config.Caches.Show(holder, spec.Mounts, u)
	return slices.Concat(spec.Own, shown), err
}
