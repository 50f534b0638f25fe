package runner

import (
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

const (
	// Nobody is the user, as uid:gid, of commands where no other is configured: it owns
	// nothing but workspaces.
	Nobody = "10000:10000"
	// Linger is how long a runner whose place outlives the sidecar goes on that hears
	// nothing.
	Linger = 2 * time.Minute
	// Silence is that of a place which ends with the sidecar, where sidecars share a store: others serve its sessions
	// and freeze them while one is paused. No sidecar is so busy: it is to be heard four times as often.
	Silence = time.Minute
)

// UserArguments are the arguments for a runner that is root in a machine which is the
// sandbox's alone: it becomes that user before it hears of any command.
func UserArguments() []string { return []string{wire.AsUser, Nobody, wire.Confine} }

// IsolateArguments are those for a runner that besides puts itself and all that it starts apart
// from the rest of its machine, as far as the spec has them kept from it.
func IsolateArguments(spec backends.Spec) []string {
	from := wire.Seclusion{Network: spec.Network != "full", Root: spec.ReadOnly, PIDs: spec.PIDs}
	return append([]string{wire.Isolate, from.String()}, UserArguments()...)
}
