// Bailiff-runner is the small static program that stays resident inside a
// sandbox and runs commands there. It speaks package wire over its own standard
// input and output and ends, with everything it started, when its input ends, or
// when it has heard nothing for as long as its client said.
//
// Each command gets a supervisor, which is this program again, started ahead. A
// supervisor is a child subreaper: all that its command starts, double-forked or
// in a session of its own, stays below it, so that it can be counted and killed,
// and told from what another command started. It starts the command, reads its
// output, waits; the runner keeps the time, kills, and reports. A supervisor that
// has nothing left below it serves the next command. As many wait as were needed
// at once of late.
//
// What runs for a client ends when another greets the runner, but for background
// commands: their supervisors keep the last part of their output, leave it to the
// runner at the end, and the client of that time asks for it. A command that converses
// has two more pipes to its supervisor, on which lines come and go.
//
// No command can speak in the runner's name nor look into it: runner and
// supervisors are not dumpable (from their very start if the file is installed
// without read permission, mode 0111), commands inherit standard input and output
// only, and no socket leads to either. A command that kills its supervisor has killed
// itself: its orphans fall to the runner, which ends them.
//
// Where the sandbox has no network but its loopback, and the client asks for it, the runner
// listens there and passes connections on: it reads and understands nothing of them. One
// that waits takes no buffer, and one that is not read holds up no other.
//
// In a machine that is the sandbox's alone it is started as root, and comes to its
// place by arguments that are done one after the other: "text" for a stream that
// carries text only, "files FOLDER" for an input that comes as files, "apart LIST"
// to be the first process of a place in which there is nothing else of the machine,
// "settle UID:GID" to become an ordinary user. What carries the stream stays root's, so
// that no command can speak to it.
//
// With the arguments "bring", "stand", "enter" and "hold" it is the door beside a sandbox that is a pod (package door).
//
// With the argument "empty" it removes all that is in the workspace and ends, for engines that cannot remove
// a tree of any depth themselves.
//
// With the argument "answer" it says so and ends: a command by which a runner is tried that needs nothing of an image.
//
// With the argument "confine" it first renounces, for all that it starts, calls of
// the kernel that no command needs. Without it, as on the host itself, a command
// may be able to change the resource limits of runner and supervisors: that is
// noticed, and ends the runner's service.
//
// With the argument "gvisor" it does so in gVisor, and in no other kernel (package confine).
//
// Where more processes want a processor than there are, the runner and the sidecar go before
// commands: a supervisor has less weight, and what it starts inherits that.
//
// A supervisor and the command's first process share their working directory
// (CLONE_FS). That is how the runner knows where a shell stood at its end without
// a word of its own in the user's script.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/confine"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/door"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/serve"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/supervise"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/transport"
	"github.com/bailiff-dev/bailiff/internal/host/removal"
)

func main() {
	debug.SetGCPercent(25)
	debug.SetMemoryLimit(8 << 20)
	if runtime.GOMAXPROCS(0) > 2 {
		runtime.GOMAXPROCS(2)
	}
	if err := confine.Withdraw(); err != nil {
		fail(err)
	}
	if len(os.Args) == 2 && os.Args[1] == serve.SuperviseArgument {
		supervise.Run()
		return
	}
	if err := follow(os.Args[1:]); err != nil {
		fail(err)
	}
}

// follow does what the first argument says, and the rest inside that.
func follow(arguments []string) error {
	switch {
	case len(arguments) == 0:
		return serve.Run(false)
	case arguments[0] == wire.Text:
		return transport.OverText(arguments[1:])
	case arguments[0] == wire.InputFiles:
		return transport.FromFiles(arguments[1:])
	case arguments[0] == wire.Isolate:
		return confine.Isolate(arguments[1:])
	case arguments[0] == confine.FirstArgument:
		return confine.FirstProcess(arguments[1:])
	case arguments[0] == wire.AsUser:
		return confine.AsUser(arguments[1:])
	case arguments[0] == wire.ShareWatches:
		if err := confine.ShareWatches(); err != nil {
			return err
		}
		return follow(arguments[1:])
	case slices.Contains([]string{wire.Bring, wire.Stand, wire.Enter, wire.Hold}, arguments[0]):
		return beside(arguments[0], arguments[1:])
	case arguments[0] == wire.Empty && len(arguments) == 1:
		return removal.Contents(context.Background(), confine.Workspace)
	case arguments[0] == wire.Answer && len(arguments) == 1:
		_, err := os.Stdout.WriteString(wire.Answered)
		return err
	case arguments[0] == wire.Confine && len(arguments) == 1:
		if err := errors.Join(confine.LimitQueues(), confine.FilterCalls()); err != nil {
			return err
		}
		return serve.Run(true)
	case arguments[0] == wire.GVisor && len(arguments) == 1:
		if err := confine.RequireGVisor(); err != nil {
			return err
		}
		if err := confine.FilterCalls(); err != nil {
			return err
		}
		return serve.Run(true)
	}
	return fmt.Errorf("bailiff starts this program inside sandboxes; %q is no argument that it takes there", arguments[0])
}

// beside does a part of a pod's door.
func beside(part string, rest []string) error {
	switch part {
	case wire.Bring:
		return door.Bring(rest)
	case wire.Stand:
		return door.Stand(rest)
	case wire.Enter:
		return door.Enter()
	}
	return door.Hold(rest)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bailiff-runner:", err)
	os.Exit(125)
}
