package api

import "errors"

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
)
