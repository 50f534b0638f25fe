// Package cli has what the commands of bailiff share: their flags, their output, their exit status, and the clients by which they
// ask a running sidecar.
//
// Not here: any command.
package cli

import (
	"errors"
	"fmt"
	"os"
)

// Status is an error that only sets the exit status; its text, if any, has
// been printed where it belongs.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// ExitStatus is the status of a process whose command ended so; it prints errors that are none but a status.
func ExitStatus(err error) int {
	var code Status
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(os.Stderr, "bailiff: %v\n", err)
	return 1
}
