package runner

import (
	"fmt"

	"github.com/bailiff-dev/bailiff/backends"
)

// LeastPIDs is what the runner and some supervisors need for themselves.
const LeastPIDs = 64

// CheckPIDs refuses a bound on processes that leaves none for commands.
func CheckPIDs(pids int) error {
	if pids > 0 && pids < LeastPIDs {
		return fmt.Errorf("%w: pids is %d, want at least %d, since the runner's threads count too", backends.ErrUnsupported, pids,
			LeastPIDs)
	}
	return nil
}
