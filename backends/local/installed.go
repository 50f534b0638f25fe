package local

import (
	"os"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// Installed says that the first program under a name in the folders where commands find it is root's, with all that leads to it.
func (b *Backend) Installed(name string) bool { return installed(name, wire.SearchPath) }

func installed(name, searchPath string) bool {
	for _, folder := range filepath.SplitList(searchPath) {
		path := filepath.Join(folder, name)
		about, err := os.Stat(path)
		if err != nil || !about.Mode().IsRegular() || about.Mode().Perm()&0o111 == 0 {
			continue
		}
		return trust.Root(path) == nil
	}
	return false
}
