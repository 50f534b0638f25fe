package backends

import (
	"sync/atomic"

	"github.com/bailiff-dev/bailiff"
)

// Mountable are the folders of a backend's host that sandboxes may show. Its zero value allows none. They may change
// while sandboxes are made: what stands goes on.
type Mountable struct{ folders atomic.Pointer[[]string] }

// AllowMounts replaces the folders.
func (m *Mountable) AllowMounts(folders []string) { m.folders.Store(&folders) }

// CheckMounts is the function of that name, by the folders of now.
func (m *Mountable) CheckMounts(mounts []bailiff.Mount, sockets ...string) error {
	var allowed []string
	if folders := m.folders.Load(); folders != nil {
		allowed = *folders
	}
	return CheckMounts(mounts, allowed, sockets...)
}
