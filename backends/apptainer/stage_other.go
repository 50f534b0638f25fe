//go:build !linux

package apptainer

import (
	"errors"

	"github.com/bailiff-dev/bailiff/backends"
)

func (b *Backend) stage(backends.Spec) error {
	return errors.New("only Linux can make folders in memory for a sandbox")
}
