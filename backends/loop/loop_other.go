//go:build !linux

package loop

import (
	"errors"
	"os"
)

var errNotLinux = errors.New("only Linux can bound a folder by a file system of its own")

func supported() error { return errNotLinux }

// Attach is an error.
func Attach(string) (*os.File, error) { return nil, errNotLinux }
