package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// mount is a folder of the host that a container sees under another name.
type mount struct{ source, target string }

// outside is the host's name of a path in a container.
func (s *scope) outside(p string) string {
	for _, m := range s.mounts {
		below, ok := strings.CutPrefix(p, m.target)
		if m.target == "/" {
			below = p
		}
		if ok && (below == "" || below[0] == '/') {
			return value.Cleaned(m.source + "/" + below)
		}
	}
	return p
}
