package processes

import (
	"errors"
	"slices"
	"syscall"
)

// IsExhausted says that a process could not be started for want of processes, memory or files, which may be
// there again later.
func IsExhausted(err error) bool {
	wants := []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}
	return slices.ContainsFunc(wants, func(want error) bool { return errors.Is(err, want) })
}
