package relay

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// trustFolders are where the certificate of an outlet is kept, the first that can be
// written to.
var trustFolders = []string{wire.TrustFolder, "/tmp/.bailiff", "/home/.bailiff"}

// largestBundle bounds what is read of an image's certificates.
const largestBundle = 4 << 20

// writeTrust puts a certificate into a file, and into another with those of the image, or
// with others where the image has none.
func writeTrust(certificate, others []byte) (alone, bundle string, err error) {
	together := slices.Concat(roots(), certificate)
	if len(together) == len(certificate) {
		together = slices.Concat(others, certificate)
	}
	var faults []error
	for _, folder := range trustFolders {
		alone, bundle = filepath.Join(folder, "ca.pem"), filepath.Join(folder, filepath.Base(wire.TrustBundle))
		err := os.MkdirAll(folder, 0o755)
		if err == nil {
			err = replaceFile(alone, certificate)
		}
		if err == nil {
			err = replaceFile(bundle, together)
		}
		if err == nil {
			return alone, bundle, writeOwnBundle(together)
		}
		faults = append(faults, err)
	}
	return "", "", errors.Join(faults...)
}

// roots are the certificates of the image, none if it has none, with a line's end.
func roots() []byte {
	paths := []string{wire.ImageRoots}
	for _, path := range wire.RootBundles {
		paths = append(paths, path+wire.KeptRoots, path)
	}
	for _, path := range paths {
		stat, err := os.Stat(path)
		if err != nil || !stat.Mode().IsRegular() || stat.Size() > largestBundle {
			continue
		}
		if text, err := os.ReadFile(path); err == nil {
			return append(bytes.TrimRight(text, "\n"), '\n')
		}
	}
	return nil
}

// writeOwnBundle writes to the sandbox's own bundle where it has one in the place of the
// image's, for programs that read no variable. Of the paths of bundles, those that can be
// written to lead to it.
func writeOwnBundle(together []byte) error {
	if _, err := os.Stat(wire.ImageRoots); err != nil {
		return nil
	}
	var faults []error
	for _, path := range wire.RootBundles {
		if held, err := os.ReadFile(path); err == nil && bytes.Equal(held, together) {
			return nil // programs may be reading it
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		_, err = file.Write(together)
		return errors.Join(err, file.Close())
	}
	return errors.Join(faults...)
}

// replaceFile writes a file in whose place another may be.
func replaceFile(path string, content []byte) error {
	made, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = made.Write(content)
	if err = errors.Join(err, made.Chmod(0o644), made.Close()); err == nil {
		err = os.Rename(made.Name(), path)
	}
	if err != nil {
		_ = os.Remove(made.Name())
	}
	return err
}
