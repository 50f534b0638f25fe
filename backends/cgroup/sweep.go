package cgroup

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"strings"

	"github.com/bailiff-dev/bailiff/backends/descent"
)

// newName names a group after this process, so that a later one can tell whether
// its maker is alive.
func newName() (string, error) {
	mark, err := descent.Mark()
	if err != nil {
		return "", err
	}
	return mark + "-" + strings.ToLower(rand.Text()[:12]), nil
}

// Sweep ends what is in groups whose makers are gone, removes them, and returns
// how many. Those of makers in other namespaces it cannot judge, and spares.
func Sweep(ctx context.Context) (int, error) {
	here, err := findHierarchies("/proc/self/mountinfo", "/proc/self/cgroup")
	if err != nil {
		return 0, err
	}
	gone := map[string]bool{}
	var faults []error
	for _, h := range here {
		faults = append(faults, h.sweep(ctx, gone))
	}
	return len(gone), errors.Join(faults...)
}

// sweep notes the names of the groups that it has removed.
func (h hierarchy) sweep(ctx context.Context, gone map[string]bool) error {
	folders, err := filepath.Glob(filepath.Join(h.folder, descent.Prefix+"*"))
	faults := []error{err}
	for _, folder := range folders {
		if name := filepath.Base(folder); descent.IsOrphan(name) {
			if err := remove(ctx, folder); err != nil {
				faults = append(faults, err)
				continue
			}
			gone[name] = true
		}
	}
	return errors.Join(faults...)
}
