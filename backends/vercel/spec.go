package vercel

import (
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// What Vercel's machines are like.
const (
	memoryPerCPU = 2048
	mostCPUs     = 32
	usualCPUs    = 2
	diskSizeMB   = 32 << 10
)

// longest is how long Vercel lets a machine run, at most.
const longest = 24 * time.Hour

// networks are those that specs may name, as Vercel calls them.
var networks = map[string]string{"none": "deny-all", "full": "allow-all"}

// check refuses what machines of Vercel's cannot do.
func (b *Backend) check(spec backends.Spec) error {
	if _, known := networks[spec.Network]; !known {
		return fmt.Errorf("%w: network is %q, want none or full", backends.ErrUnsupported, spec.Network)
	}
	if spec.Runtime != "" {
		return fmt.Errorf("%w: runtime: Vercel lets none be chosen", backends.ErrUnsupported)
	}
	if len(spec.Mounts) > 0 {
		return fmt.Errorf("%w: mounts: a machine at Vercel sees no folder of this one", backends.ErrUnsupported)
	}
	if err := runner.CheckPIDs(spec.PIDs); err != nil {
		return err
	}
	if spec.CPUs > 0 && spec.CPUs < 1 {
		if err := b.missing(cpus, "Vercel's smallest machine has 1 processor"); err != nil {
			return err
		}
	}
	if spec.MemoryMB > 0 && spec.MemoryMB < memoryPerCPU {
		if err := b.missing(memoryMB, fmt.Sprintf("Vercel's smallest machine has %d MB", memoryPerCPU)); err != nil {
			return err
		}
	}
	return b.checkDisk(spec)
}

// checkDisk knows that every machine has the same disk, besides a drive.
func (b *Backend) checkDisk(spec backends.Spec) error {
	least := diskSizeMB
	if spec.Workspace != "" {
		least++
	}
	if spec.DiskMB == 0 || spec.DiskMB >= least {
		return nil
	}
	return b.missing(diskMB, fmt.Sprintf("Vercel's machines have a disk of %d MB", diskSizeMB))
}

// driveBytes is how large a named workspace may become: what the bound leaves beside
// the machine's own disk, or all of it where that disk is accepted as it is.
func driveBytes(spec backends.Spec) int64 {
	size := spec.DiskMB
	if size > diskSizeMB {
		size -= diskSizeMB
	}
	return int64(size) << 20
}

// processors is the size of the largest machine that is within the spec: 1 or an
// even number.
func processors(spec backends.Spec) int {
	n := usualCPUs
	if spec.CPUs > 0 || spec.MemoryMB > 0 {
		n = mostCPUs
	}
	if spec.CPUs > 0 {
		n = min(n, int(spec.CPUs))
	}
	if spec.MemoryMB > 0 {
		n = min(n, spec.MemoryMB/memoryPerCPU)
	}
	return max(1, n&^1)
}

// order is what Vercel is asked for.
func (b *Backend) order(name string, spec backends.Spec, life time.Duration, drive string) wanted {
	w := wanted{
		Project: b.cfg.Project, Name: name, Ports: []int{}, Timeout: life.Milliseconds(), Region: b.cfg.Region,
		Resources: resources{processors(spec)}, Image: spec.Image, Network: network{networks[spec.Network]}, Tags: tags(spec),
	}
	if w.Image == "" {
		w.Image = b.cfg.Image
	}
	if drive != "" {
		w.Mounts = map[string]mount{workspaceFolder: {Drive: drive, Mode: "read-write"}}
	}
	return w
}

const workspaceFolder = "/workspace"

// tags tell who looks at Vercel's list what a machine is. Sessions are told by
// digest: their names may tell who talks to whom.
func tags(spec backends.Spec) map[string]string {
	all := map[string]string{"bailiff": "sandbox", "owner": backends.Digest(spec.Owner), "session": backends.Digest(spec.Session)}
	if spec.Workspace != "" {
		all["workspace"] = backends.Digest(spec.Workspace)
	}
	if !spec.Expires.IsZero() {
		all["expires"] = spec.Expires.UTC().Format(time.RFC3339)
	}
	return all
}

// verify compares what Vercel made with what it was asked for.
func verify(w wanted, m made) error {
	switch {
	case m.Session.VCPUs != w.Resources.VCPUs:
		return fmt.Errorf("%w: cpus: Vercel made a machine with %d, asked for %d", backends.ErrUnsupported, m.Session.VCPUs,
			w.Resources.VCPUs)
	case m.Session.Memory != w.Resources.VCPUs*memoryPerCPU:
		return fmt.Errorf("%w: memory_mb: Vercel made a machine with %d MB, asked for %d", backends.ErrUnsupported, m.Session.Memory,
			w.Resources.VCPUs*memoryPerCPU)
	case m.Session.Network.Mode != "" && m.Session.Network.Mode != w.Network.Mode:
		return fmt.Errorf("%w: network: Vercel set %q, asked for %q", backends.ErrUnsupported, m.Session.Network.Mode, w.Network.Mode)
	case m.Session.Timeout > w.Timeout:
		return fmt.Errorf("%w: Vercel would end the machine after %d ms, asked for %d", backends.ErrUnsupported, m.Session.Timeout,
			w.Timeout)
	case m.Sandbox.Persistent:
		return fmt.Errorf("%w: Vercel would keep the machine's disk, asked not to", backends.ErrUnsupported)
	}
	return sameImage(w.Image, m.Sandbox.Image)
}
