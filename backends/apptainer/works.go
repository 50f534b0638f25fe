package apptainer

import (
	"errors"
	"io/fs"
	"os"
)

// begin makes a folder in which something is made now, an image or what the program needs
// for a sandbox. No sweep takes it until it is ended.
func (b *Backend) begin() (folder string, end func() error, err error) {
	name, done := b.works.Name("")
	folder = b.path(worksFolder, name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		done()
		return "", nil, err
	}
	return folder, func() error {
		done()
		return os.RemoveAll(folder)
	}, nil
}

// sweepWorks removes the folders that this process does not use.
func (b *Backend) sweepWorks() error {
	entries, err := os.ReadDir(b.path(worksFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var faults []error
	for _, entry := range entries {
		if !b.works.Has(entry.Name()) {
			faults = append(faults, os.RemoveAll(b.path(worksFolder, entry.Name())))
		}
	}
	return errors.Join(faults...)
}
