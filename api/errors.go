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
	// ErrProof: that approver may answer, once they have proved who they are.
	ErrProof = errors.New("proof needed")
	// ErrVoted: that person has answered already.
	ErrVoted = errors.New("answered already")
)

// ErrBusy: another is being worked out, and this is to be asked again.
var ErrBusy = errors.New("busy")

// Why a rollback, or its end, changes nothing.
var (
	// ErrRevisionUnknown: no such revision is kept.
	ErrRevisionUnknown = errors.New("not kept")
	// ErrUnsound: what would come into force has faults or is damaged.
	ErrUnsound = errors.New("these policies cannot come into force")
	// ErrNotRolledBack: the configuration's policies are in force already.
	ErrNotRolledBack = errors.New("nothing is rolled back: the policies in force are those of the configuration")
)
