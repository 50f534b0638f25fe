// Package defaultpath has the paths of files and sockets that hold where the configuration
// names none. It is apart from the configuration so that small programs can use it too.
package defaultpath

import (
	"os"
	"path/filepath"
)

// State is the folder of the files that outlive a restart.
func State() string {
	home, err := os.UserHomeDir()
	if os.Geteuid() == 0 || err != nil {
		return "/var/lib/bailiff"
	}
	return filepath.Join(home, ".local/state/bailiff")
}

// The names of the sockets of the agent API and the operator API.
const (
	AgentSocket    = "agent.sock"
	OperatorSocket = "operator.sock"
)

// Socket is the path of a Unix socket: in the folder that the machine empties when it
// starts, or below the state folder where the user has none.
func Socket(name string) string {
	run := os.Getenv("XDG_RUNTIME_DIR")
	switch {
	case os.Geteuid() == 0:
		run = "/run/bailiff"
	case run != "":
		run = filepath.Join(run, "bailiff")
	default:
		run = filepath.Join(State(), "run")
	}
	return filepath.Join(run, name)
}
