package approval

import (
	"errors"
	"fmt"
)

// Why nothing is asked or granted.
var (
	// ErrUnreachable: there are approvers, but no channel works by which they could answer now.
	ErrUnreachable = errors.New("nobody can be asked now")
	// ErrStore: the store failed. Nothing is granted until it works again.
	ErrStore = errors.New("the store of approvals failed")
)

// errFull: too much is pending already.
var errFull = errors.New("too much is pending")

// refusal is a sentence for people that a program knows by its kind.
type refusal struct {
	kind error
	text string
}

func refuse(kind error, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.kind }
