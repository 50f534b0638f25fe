package bubblewrap

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// ownBundle puts a copy in memory in the place of the file of certificates that programs
// trust, for the runner to write to, and shows it the file itself elsewhere. Where there is
// none, programs have the variables alone; so they have where what may be written is bounded and
// the memory is not, since the copy can be written to.
func (b *Backend) ownBundle(spec backends.Spec, files *descriptors) ([]string, error) {
	if spec.Network != backends.Egress || spec.DiskMB > 0 && spec.MemoryMB == 0 {
		return nil, nil
	}
	root := cmp.Or(b.cfg.Root, "/")
	target, err := bundleIn(root)
	if target == "" || err != nil || backends.Overlaps(spec.Mounts, target) {
		return nil, err
	}
	source := filepath.Join(root, target)
	content, err := os.Open(source)
	if err != nil {
		return nil, fmt.Errorf("copying the certificates of the sandbox: %w", err)
	}
	return []string{"--ro-bind", source, wire.ImageRoots, "--perms", "0644", "--bind-data", files.add(content), target}, nil
}

// bundleIn is the first file of certificates below a root that is itself one, and no link to
// another.
func bundleIn(folder string) (string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", fmt.Errorf("finding the certificates of the sandbox: %w", err)
	}
	defer root.Close()
	for _, path := range wire.RootBundles {
		if stat, err := root.Lstat(strings.TrimPrefix(path, "/")); err == nil && stat.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", nil
}
