package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// Doubt is a sentence about what may be well where the sidecar runs, though it is not
// here: a check of a configuration has other variables, and sockets come and go.
type Doubt string

// Error is the sentence.
func (d Doubt) Error() string { return string(d) }

// Present says what is wrong with the place where the secret is kept.
func (c Credential) Present() error {
	if c.File == "" && strings.TrimSpace(os.Getenv(c.Env)) == "" {
		return Doubt("variable " + c.Env + " is not set here; the sidecar will need it in its own environment")
	}
	_, err := c.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s: write the secret there, for the sidecar's user alone (chmod 600)", c.File)
	}
	return err
}

// IsSecret says what is wrong with a file that must be kept from others.
func IsSecret(path string) error {
	_, err := trust.Secret(path)
	return orAbsent(path, err)
}

// IsKey says what is wrong with a secret that others' word is checked by.
func IsKey(path string) error {
	_, err := trust.Key(path)
	return orAbsent(path, err)
}

// IsPublic says what is wrong with a file that others may only read.
func IsPublic(path string) error {
	_, err := trust.Public(path)
	return orAbsent(path, err)
}

// IsFolder says what is wrong with a path that should be a folder's.
func IsFolder(path string) error {
	about, err := os.Stat(path)
	if err == nil && !about.IsDir() {
		return fmt.Errorf("%s is no folder", path)
	}
	return orAbsent(path, err)
}

// IsThere doubts a path at which there is nothing yet.
func IsThere(path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Doubt("there is no " + path + " now")
	}
	return err
}

// orAbsent is an error about a path, in plain words where nothing is there.
func orAbsent(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s", path)
	}
	return err
}
