package modal

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	modal "github.com/modal-labs/modal-client/go"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// The tags of sandboxes. Whose they are is written by digest: names may tell who
// talks to whom.
const (
	tagOwner     = "bailiff_owner"
	tagSession   = "bailiff_session"
	tagWorkspace = "bailiff_workspace"
	tagExpires   = "bailiff_expires" // in seconds since 1970
	tagName      = "bailiff_name"
)

const (
	// longestLife is the greatest age that Modal lets a sandbox have.
	longestLife = 24 * time.Hour
	// idle is how long a machine is kept in which no runner runs.
	idle = 3 * time.Minute
)

// What is set aside for a sandbox, and paid for though it may be idle; it may use
// more, up to what its spec allows.
const (
	leastCPUs     = 0.125
	leastMemoryMB = 128
)

var (
	plainName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	imageName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._:/@-]*$`)
)

// isImage says whether a name can be an image's. It holds nothing that could begin
// another line or word of a Dockerfile.
func isImage(name string) bool { return len(name) <= 501 && imageName.MatchString(name) }

// check refuses what Modal cannot do.
func (b *Backend) check(spec backends.Spec) error {
	for _, c := range []struct {
		field string
		met   bool
		want  string
	}{
		{"network", slices.Contains([]string{"none", backends.Egress, "full"}, spec.Network), `"none", "egress" or "full"`},
		{"network", spec.Network != backends.Egress || b.isVM(), `"none" or "full" in gvisor (use backends.modal.runtime: vm)`},
		{"runtime", spec.Runtime == "", "left to backends.modal.runtime"},
		{"mounts", len(spec.Mounts) == 0, "none: its machines see no folder of this host"},
		{"image", isImage(b.imageOf(spec.Image)), "the name of an image in a registry, or im-… for one that Modal has"},
		{"workspace", len(volumeName(spec.Owner, spec.Workspace)) <= 64, "at most 32 bytes long"},
		{diskMB, spec.DiskMB == 0 || b.accepts(diskMB), "0: it bounds no disk" + accept(diskMB)},
		{pids, spec.PIDs == 0 || b.accepts(pids) || b.isVM(), "0: gvisor bounds no processes (use backends.modal.runtime: vm)" +
			accept(pids)},
		{readOnly, !spec.ReadOnly || b.accepts(readOnly) || b.isVM(),
			"false: in gvisor what an image leaves open to all can be written to (use backends.modal.runtime: vm)" + accept(readOnly)},
	} {
		if !c.met {
			return fmt.Errorf("%w: on Modal %s must be %s", backends.ErrUnsupported, c.field, c.want)
		}
	}
	return runner.CheckPIDs(spec.PIDs)
}

func accept(limit string) string {
	return " (or accept it with backends.modal.accept_missing_limits: [" + limit + "])"
}

func (b *Backend) isVM() bool { return b.cfg.Runtime == vm }

// start is what becomes the runner. Its file is made what a user can run but not
// read, so that the kernel closes its processes to commands.
func (b *Backend) start(spec backends.Spec) []string {
	arguments := runner.UserArguments()
	if b.isVM() {
		arguments = runner.IsolateArguments(spec)
	}
	return append([]string{"/bin/sh", "-c", `chmod 0111 "$0" && exec "$0" "$@"`, runnerPath}, arguments...)
}

// parameters are what Modal is told of a sandbox.
func (b *Backend) parameters(name string, spec backends.Spec, workspace *modal.Volume) *modal.SandboxCreateParams {
	life := lifetime(spec.Expires)
	params := &modal.SandboxCreateParams{
		Name:           name,
		Runtime:        modal.SandboxRuntime(b.cfg.Runtime),
		Tags:           tags(name, spec),
		Timeout:        life,
		IdleTimeout:    min(idle, life),
		BlockNetwork:   spec.Network != "full",
		CPU:            min(leastCPUs, spec.CPUs),
		CPULimit:       spec.CPUs,
		MemoryMiB:      min(leastMemoryMB, spec.MemoryMB),
		MemoryLimitMiB: spec.MemoryMB,
	}
	if workspace != nil {
		params.Volumes = map[string]*modal.Volume{workspaceFolder: workspace}
	}
	return params
}

// lifetime is in whole seconds, at least one.
func lifetime(expires time.Time) time.Duration {
	if expires.IsZero() {
		return longestLife
	}
	return min(max(time.Until(expires).Round(time.Second), time.Second), longestLife)
}

func tags(name string, spec backends.Spec) map[string]string {
	all := map[string]string{tagName: name, tagOwner: backends.Digest(spec.Owner), tagSession: backends.Digest(spec.Session)}
	if spec.Workspace != "" {
		all[tagWorkspace] = backends.Digest(spec.Workspace)
	}
	if !spec.Expires.IsZero() {
		all[tagExpires] = strconv.FormatInt(spec.Expires.Unix(), 10)
	}
	return all
}

func isImageID(name string) bool { return strings.HasPrefix(name, "im-") }
