package approval

import (
	"errors"

	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// Why nothing is asked or granted.
var (
	// ErrUnreachable: there are approvers, but no channel works by which they could answer now.
	ErrUnreachable = errors.New("nobody can be asked now")
	// ErrStore: the store failed. Nothing is granted until it works again.
	ErrStore = state.ErrStore
)
