package apptainer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// works are the folders in which something is made now, an image or what the program
// needs for a sandbox.
type works struct {
	mu   sync.Mutex
	open map[string]bool
}

// begin makes a folder that no sweep takes until it is ended.
func (w *works) begin(in string) (folder string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if folder, err = os.MkdirTemp(in, ""); err != nil {
		return "", err
	}
	if w.open == nil {
		w.open = map[string]bool{}
	}
	w.open[folder] = true
	return folder, nil
}

func (w *works) end(folder string) error {
	w.mu.Lock()
	delete(w.open, folder)
	w.mu.Unlock()
	return os.RemoveAll(folder)
}

// sweep removes the folders that nobody of this process uses.
func (w *works) sweep(in string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	entries, err := os.ReadDir(in)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var faults []error
	for _, entry := range entries {
		if folder := filepath.Join(in, entry.Name()); !w.open[folder] {
			faults = append(faults, os.RemoveAll(folder))
		}
	}
	return errors.Join(faults...)
}
