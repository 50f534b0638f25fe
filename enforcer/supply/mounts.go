package supply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// ErrOvertaken says that a protected folder came, went or was replaced while the sandbox that
// shows it was made: the spec is no longer what is there, and has to be made anew.
var ErrOvertaken = errors.New("the sandbox's mounts are no longer what is there")

// overtaken is the fault of an opening, with what the folders are by now.
func overtaken(fault error, mounts []bailiff.Mount) error {
	for _, n := range nestedMounts(mounts) {
		if about, err := os.Lstat(n.Source); err != nil || !about.IsDir() {
			return fmt.Errorf("%w: %w", ErrOvertaken, fault)
		}
	}
	return fault
}

// confirmTimeout bounds the look at a new sandbox's mounts.
const confirmTimeout = 10 * time.Second

// confirm makes sure that each mount below another one shows the very folder that is there: what
// runs in another sandbox on the same folder may have put a link in its place meanwhile. It is
// asked before anything else runs in the sandbox.
func confirm(ctx context.Context, sandbox backends.Sandbox, mounts, own []bailiff.Mount) error {
	nested := append(nestedMounts(mounts), lentMounts(mounts, own)...)
	if len(nested) == 0 {
		return nil
	}
	var table strings.Builder
	cmd := runner.Shell("cat /proc/self/mountinfo")
	cmd.Timeout, cmd.HeadBytes = confirmTimeout, 1<<20
	exit, err := sandbox.Run(ctx, cmd, func(p []byte) { table.Write(p) })
	if err != nil || exit.Code != 0 || exit.Dropped > 0 {
		return errors.Join(fmt.Errorf("looking at the mounts of a new sandbox (exit status %d)", exit.Code), err)
	}
	places := readMounts(table.String())
	for _, n := range nested {
		above, in := places[n.above.Target], places[n.Target]
		if in.root == "" || in.readOnly != n.ReadOnly || in.device != above.device || in.root != path.Join(above.root, n.rel) {
			return fmt.Errorf("%w: %w: %s is not shown %sas the folder that it is in %s; "+
				"it was replaced while the sandbox was made",
				backends.ErrUnavailable, ErrOvertaken, n.Target, map[bool]string{true: "read-only "}[n.ReadOnly], n.above.Source)
		}
	}
	return nil
}

type nestedMount struct {
	bailiff.Mount
	above bailiff.Mount
	rel   string
}

// nestedMounts are those that show, read-only, a part of what another one shows at the same
// place.
func nestedMounts(mounts []bailiff.Mount) (all []nestedMount) {
	for _, above := range mounts {
		for _, m := range mounts {
			rel, below := strings.CutPrefix(m.Target, above.Target+"/")
			if below && !above.ReadOnly && m.ReadOnly && m.Source == path.Join(above.Source, rel) {
				all = append(all, nestedMount{m, above, rel})
			}
		}
	}
	return all
}

// lentMounts are those of the sidecar's own that show a part of what commands may write: its real path is
// known, so that no link that a command put there leads elsewhere.
func lentMounts(mounts, own []bailiff.Mount) (all []nestedMount) {
	for _, above := range mounts {
		for _, m := range own {
			if rel, below := strings.CutPrefix(m.Source, above.Source+"/"); below && !above.ReadOnly {
				all = append(all, nestedMount{m, above, rel})
			}
		}
	}
	return all
}

// place is a line of proc(5)'s mountinfo.
type place struct {
	device, root string
	readOnly     bool
}

// readMounts reads mountinfo by the mount points; of several at one, the last is what is seen.
func readMounts(table string) map[string]place {
	places := map[string]place{}
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 5 {
			places[unescaped(fields[4])] = place{device: fields[2], root: unescaped(fields[3]),
				readOnly: slices.Contains(strings.Split(fields[5], ","), "ro")}
		}
	}
	return places
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

func unescaped(field string) string { return unescape.Replace(field) }
