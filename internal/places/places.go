// Package places says where things lie on a machine that nobody configured. It is
// apart from the configuration so that small programs can know it too.
package places

import (
	"os"
	"path/filepath"
)

// State is the folder of what must outlive a restart.
func State() string {
	home, err := os.UserHomeDir()
	if os.Geteuid() == 0 || err != nil {
		return "/var/lib/bailiff"
	}
	return filepath.Join(home, ".local/state/bailiff")
}

// The sockets by which agents and operators come.
const (
	AgentSocket    = "agent.sock"
	OperatorSocket = "operator.sock"
)

// Socket is the path of a Unix socket: in the folder for things that live as long as
// the machine runs, or below the state folder where the user has none.
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
