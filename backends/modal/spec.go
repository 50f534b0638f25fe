package modal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/modal-labs/modal-client/go"
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
	// linger is how long a runner outlives its sidecar's last word, and idle how long
	// a machine is kept in which no runner runs.
	linger = 2 * time.Minute
	idle   = 3 * time.Minute
)

// What is set aside for a sandbox, and paid for though it may be idle; it may use
// more, up to what its spec allows.
const (
	leastCPUs     = 0.125
	leastMemoryMB = 128
)

var (
	plainName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	// imageName holds nothing that could begin another line or word of a Dockerfile.
	imageName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._:/@-]{0,500}$`)
)

// check refuses what Modal cannot do.
func (b *Backend) check(spec backends.Spec) error {
	for _, c := range []struct {
		field string
		met   bool
		want  string
	}{
		{"network", spec.Network == "none" || spec.Network == "full", `"none" or "full"`},
		{"mounts", len(spec.Mounts) == 0, "none: its machines see no folder of this host"},
		{"image", imageName.MatchString(b.imageOf(spec.Image)), "the name of an image in a registry, or im-… for one that Modal has"},
		{"workspace", len(volumeName(spec.Owner, spec.Workspace)) <= 64, "at most 32 bytes long"},
		{diskMB, spec.DiskMB == 0 || b.accepts(diskMB), "0: it bounds no disk" + acceptIt(diskMB)},
		{pids, spec.PIDs == 0 || b.accepts(pids), "0: it bounds no processes" + acceptIt(pids)},
		{readOnly, !spec.ReadOnly || b.accepts(readOnly), "false: what its images leave open to all can be written to" + acceptIt(readOnly)},
	} {
		if !c.met {
			return fmt.Errorf("%w: on Modal %s must be %s", backends.ErrUnsupported, c.field, c.want)
		}
	}
	return nil
}

func acceptIt(limit string) string {
	return " (accept it with backends.modal.accept_missing_limits: [" + limit + "])"
}

// parameters are what Modal is told of a sandbox.
func parameters(name string, spec backends.Spec, workspace *modal.Volume) *modal.SandboxCreateParams {
	life := lifetime(spec.Expires)
	params := &modal.SandboxCreateParams{
		Name:           name,
		Tags:           tags(name, spec),
		Timeout:        life,
		IdleTimeout:    min(idle, life),
		BlockNetwork:   spec.Network == "none",
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
	all := map[string]string{tagName: name, tagOwner: digest(spec.Owner), tagSession: digest(spec.Session)}
	if spec.Workspace != "" {
		all[tagWorkspace] = digest(spec.Workspace)
	}
	if !spec.Expires.IsZero() {
		all[tagExpires] = strconv.FormatInt(spec.Expires.Unix(), 10)
	}
	return all
}

// digest stands for a name without telling it.
func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

func isImageID(name string) bool { return strings.HasPrefix(name, "im-") }
