package daytona

import (
	"cmp"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// The labels of machines. Sessions are labelled by digest: their names may tell who
// talks to whom.
const (
	labelOwner     = "bailiff.owner"
	labelSession   = "bailiff.session"
	labelWorkspace = "bailiff.workspace"
	labelSpec      = "bailiff.spec"
	labelExpires   = "bailiff.expires"
)

const (
	mibPerGiB = 1 << 10
	root      = "root"
)

// permitted is nil if Daytona and the configuration can do what the spec asks for.
func (b *Backend) permitted(spec backends.Spec) error {
	switch {
	case spec.Network != "none" && spec.Network != "full":
		return fmt.Errorf("%w: network is %q, want none or full", backends.ErrUnsupported, spec.Network)
	case spec.Runtime != "":
		return fmt.Errorf("%w: runtime: Daytona lets none be chosen", backends.ErrUnsupported)
	case len(spec.Mounts) > 0:
		return fmt.Errorf("%w: mounts: this machine's folders cannot be shown on Daytona's", backends.ErrUnsupported)
	case spec.Network == "full":
		if err := b.missing(toolbox, "commands with a network can become root of their sandbox, by the service that Daytona runs in "+
			"it"); err != nil {
			return err
		}
	}
	return runner.CheckPIDs(spec.PIDs)
}

// wanted is what is asked of Daytona for a spec.
func (b *Backend) wanted(name, image string, spec backends.Spec) (newMachine, error) {
	w := newMachine{
		Name: name, Target: b.cfg.Target, User: root,
		NetworkBlockAll: spec.Network == "none", AutoStop: int(b.cfg.AutoStop / time.Minute), AutoDelete: autoDelete(spec),
	}
	if !isDigest(image) {
		w.Snapshot = image // which has limits of its own
		return w, nil
	}
	w.BuildInfo = &buildInfo{Dockerfile: "FROM " + image + "\n"}
	var err error
	w.CPU, err = b.whole(cpus, spec.CPUs, "CPUs", err)
	w.Memory, err = b.whole(memoryMB, float64(spec.MemoryMB)/mibPerGiB, "GiB", err)
	w.Disk, err = b.whole(diskMB, float64(spec.DiskMB)/mibPerGiB, "GiB", err)
	return w, err
}

// autoDelete is, in minutes, when Daytona deletes a machine that was stopped: at
// once, unless it holds a workspace.
func autoDelete(spec backends.Spec) int {
	if spec.Workspace != "" {
		return -1
	}
	return 0
}

// whole is the most that Daytona can give within a limit; zero asks for no limit.
func (b *Backend) whole(name string, limit float64, unit string, before error) (int, error) {
	if limit > 0 && limit < 1 {
		return 1, cmp.Or(before, b.missing(name, "Daytona gives whole "+unit+", one at least"))
	}
	return int(limit), before
}

// kept compares what Daytona says it made with what was asked for.
func (b *Backend) kept(spec backends.Spec, w newMachine, m machine) error {
	switch {
	case m.User != root:
		return unlike("the user", m.User)
	case m.Public:
		return unlike("public", m.Public)
	case m.NetworkBlockAll != w.NetworkBlockAll:
		return fmt.Errorf("%w: network: Daytona did not set it", backends.ErrUnsupported)
	case m.AutoStop == nil || *m.AutoStop <= 0 || *m.AutoStop > float64(w.AutoStop):
		return unlike("autoStopInterval", number(m.AutoStop))
	case m.AutoDelete == nil || *m.AutoDelete != float64(w.AutoDelete):
		return unlike("autoDeleteInterval", number(m.AutoDelete))
	}
	return cmp.Or(
		b.within(cpus, m.CPU, spec.CPUs, "CPUs"),
		b.within(memoryMB, m.Memory, float64(spec.MemoryMB)/mibPerGiB, "GiB"),
		b.within(diskMB, m.Disk, float64(spec.DiskMB)/mibPerGiB, "GiB"),
	)
}

func unlike(what string, is any) error {
	return fmt.Errorf("%w: Daytona did not make the sandbox as it was asked to: %s is %v", backends.ErrUnavailable, what, is)
}

func number(n *float64) any {
	if n == nil {
		return "missing"
	}
	return *n
}

func (b *Backend) within(name string, has, limit float64, unit string) error {
	if limit == 0 || has > 0 && has <= limit {
		return nil
	}
	return b.missing(name, fmt.Sprintf("Daytona made the sandbox with %v %s, want %v at most", has, unit, limit))
}

func labels(spec backends.Spec) map[string]string {
	all := map[string]string{
		labelOwner:   spec.Owner,
		labelSession: "sha256:" + backends.Digest(spec.Session),
		labelSpec:    specHash(spec),
		labelExpires: expiry(spec).UTC().Format(time.RFC3339),
	}
	if spec.Workspace != "" {
		all[labelWorkspace] = spec.Workspace
	}
	return all
}

// longestLife bounds what a spec leaves open.
const longestLife = 24 * time.Hour

func expiry(spec backends.Spec) time.Time { return spec.Ends(time.Now(), longestLife) }

// specHash is equal for specs that one machine can serve.
func specHash(spec backends.Spec) string {
	spec.Expires, spec.Session = time.Time{}, ""
	return backends.Digest(spec.Text())
}
