package approval

import (
	"errors"
	"fmt"
)

// Why an answer was not taken. Each is wrapped in one sentence for people.
var (
	// ErrUnknown: there is no such approval or grant.
	ErrUnknown = errors.New("unknown")
	// ErrSettled: the approval is not pending any more.
	ErrSettled = errors.New("settled")
	// ErrScope: that scope is not offered.
	ErrScope = errors.New("scope not offered")
	// ErrIneligible: that approver may not answer.
	ErrIneligible = errors.New("not eligible")
	// ErrVoted: that person has answered already.
	ErrVoted = errors.New("answered already")
	// ErrUnreachable: somebody could answer, but no channel works by which they could now.
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
