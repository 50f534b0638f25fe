package state

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Mount is a folder of the host that a container sees under another name.
type Mount struct{ Source, Target string }

// HostPath is the host's name of a path in a container.
func (s *Scope) HostPath(p string) string {
	for _, m := range s.Mounts {
		below, ok := strings.CutPrefix(p, m.Target)
		if m.Target == "/" {
			below = p
		}
		if ok && (below == "" || below[0] == '/') {
			return value.CleanPath(m.Source + "/" + below)
		}
	}
	return p
}
