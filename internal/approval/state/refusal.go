package state

import (
	"errors"
	"fmt"
)

// ErrStore: the store failed. Nothing is granted until it works again.
var ErrStore = errors.New("the store of approvals failed")

// ErrFull: too much is pending already.
var ErrFull = errors.New("too much is pending")

// ErrClosed: no step is taken any more.
var ErrClosed = errors.New("the book of approvals is closed")

// refusal is a sentence for people that a program knows by its kind.
type refusal struct {
	kind error
	text string
}

// Refuse is an error of a kind with a sentence for people.
func Refuse(kind error, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.kind }
