package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// rootBundles are where images keep the certificates that programs trust, the first that
// is there counts.
var rootBundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
}

// trustFolders are where the certificate of an outlet is kept, the first that can be
// written to.
var trustFolders = []string{"/run/bailiff", "/tmp/.bailiff", homes + "/.bailiff"}

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
		alone, bundle = filepath.Join(folder, "ca.pem"), filepath.Join(folder, "bundle.pem")
		err := os.MkdirAll(folder, 0o755)
		if err == nil {
			err = replaceFile(alone, certificate)
		}
		if err == nil {
			err = replaceFile(bundle, together)
		}
		if err == nil {
			return alone, bundle, nil
		}
		faults = append(faults, err)
	}
	return "", "", errors.Join(faults...)
}

// roots are the certificates of the image, none if it has none, with a line's end.
func roots() []byte {
	for _, path := range rootBundles {
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
