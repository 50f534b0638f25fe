package main

import (
	"errors"
	"fmt"
	"os"
)

// status is an error that only sets the exit status; its text, if any, has
// been printed where it belongs.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func exitStatus(err error) int {
	var code status
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(os.Stderr, "bailiff: %v\n", err)
	return 1
}
