// Package cgroup bounds what a group of processes may use: processors, memory,
// number of processes. Where processors are bounded, the group also has less weight than
// this process when both want one. It makes control groups of its own below the one that
// this process is in, with the kernel's first or second interface, whichever
// holds the controller.
//
// It promises the limits or an error that names all that are missing. A group that is closed
// leaves neither processes nor folders. A group's name says which process made it;
// when that is gone, a sweep ends what is left of the group.
package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Limits are what a group may use at most; zero means no bound.
type Limits struct {
	CPUs     float64
	MemoryMB int
	PIDs     int
}

// The names of the limits.
const (
	CPUs     = "cpus"
	MemoryMB = "memory_mb"
	PIDs     = "pids"
)

// Missing are the limits that cannot be set here, all of them, each with its error.
type Missing struct {
	Limits []string
	errs   []error
}

func (m *Missing) Error() string {
	said := make([]string, len(m.errs))
	for i, err := range m.errs {
		said[i] = fmt.Sprintf("%s cannot be bounded: %v", m.Limits[i], err)
	}
	return strings.Join(said, "; ")
}

// Unwrap returns the errors of all.
func (m *Missing) Unwrap() []error { return m.errs }

// Group is a set of processes under common limits.
type Group struct{ folders []string }

// setting is one limit with the files that set it, by interface. A file that may
// be lacking starts with a question mark.
type setting struct {
	limit, controller string
	first, second     [][2]string
}

func (l Limits) settings() (list []setting) {
	if l.CPUs > 0 {
		quota := strconv.Itoa(max(1000, int(l.CPUs*period)))
		list = append(list, setting{CPUs, "cpu",
			[][2]string{{"cpu.cfs_period_us", strconv.Itoa(period)}, {"cpu.cfs_quota_us", quota}, {"?cpu.shares", strconv.Itoa(Shares)}},
			[][2]string{{"cpu.max", quota + " " + strconv.Itoa(period)}, {"?cpu.weight", weight}}})
	}
	if l.MemoryMB > 0 {
		bytes := strconv.Itoa(l.MemoryMB << 20)
		list = append(list, setting{MemoryMB, "memory",
			[][2]string{{"memory.limit_in_bytes", bytes}, {"?memory.memsw.limit_in_bytes", bytes}},
			[][2]string{{"memory.max", bytes}, {"?memory.swap.max", "0"}}})
	}
	if l.PIDs > 0 {
		limit := [][2]string{{"pids.max", strconv.Itoa(l.PIDs)}}
		list = append(list, setting{PIDs, "pids", limit, limit})
	}
	return list
}

// A group has half the weight of one that was told nothing, which the sidecar's is: by the
// kernel's first interface, and by its second.
const (
	Shares = 512
	weight = "50"
)

// period is the stretch of time, in microseconds, in which processor time is given out.
const period = 100_000

// New makes a group. Limits that accept names may be missing, any other that
// cannot be set is an error, a [Missing].
func New(limits Limits, accept []string) (*Group, error) {
	if limits == (Limits{}) {
		return &Group{}, nil // also where the kernel has no control groups
	}
	here, err := findHierarchies("/proc/self/mountinfo", "/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	return here.newGroup(limits, accept)
}

func (hs hierarchies) newGroup(limits Limits, accept []string) (*Group, error) {
	g := &Group{}
	name, err := newName()
	if err != nil {
		return nil, err
	}
	var missing Missing
	for _, s := range limits.settings() {
		if err := g.set(hs, name, s); err != nil && !slices.Contains(accept, s.limit) {
			missing.Limits, missing.errs = append(missing.Limits, s.limit), append(missing.errs, err)
		}
	}
	if len(missing.Limits) > 0 {
		return nil, errors.Join(&missing, g.Close(context.Background()))
	}
	return g, nil
}

func (g *Group) set(hs hierarchies, name string, s setting) error {
	h, ok := hs[s.controller]
	if !ok {
		return fmt.Errorf("this system has no control group controller %q", s.controller)
	}
	files := s.first
	if h.unified {
		files = s.second
		if err := h.enable(s.controller); err != nil {
			return err
		}
	}
	folder := filepath.Join(h.folder, name)
	if err := os.Mkdir(folder, 0o755); err == nil {
		g.folders = append(g.folders, folder)
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, f := range files {
		file, optional := strings.CutPrefix(f[0], "?")
		if err := write(filepath.Join(folder, file), f[1]); err != nil && !optional {
			return err
		}
	}
	return nil
}

// write sets a file that the kernel has made.
func write(path, value string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// Add puts a process into the group; what it starts from then on is in it too.
func (g *Group) Add(pid int) error {
	for _, folder := range g.folders {
		if err := write(filepath.Join(folder, "cgroup.procs"), strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("putting a process under its limits: %w", err)
		}
	}
	return nil
}

// OOMKills counts the processes of the group that the kernel has killed so far
// because its memory was used up; zero where its memory is not bounded.
func (g *Group) OOMKills() (kills int) {
	if file, err := os.Open(g.Events()); err == nil {
		kills = OOMKillsIn(file)
		_ = file.Close()
	}
	return kills
}

// Events is the path of the file in which the kernel counts them, empty where memory
// is not bounded.
func (g *Group) Events() string {
	for _, folder := range g.folders {
		for _, name := range []string{"memory.events", "memory.oom_control"} {
			if path := filepath.Join(folder, name); exists(path) {
				return path
			}
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// OOMKillsIn reads that count from a group's memory.events or, with the kernel's
// first interface, memory.oom_control.
func OOMKillsIn(file io.ReaderAt) int {
	var text [1024]byte
	n, _ := file.ReadAt(text[:], 0)
	for line := range strings.Lines(string(text[:n])) {
		if count, ok := strings.CutPrefix(line, "oom_kill "); ok {
			kills, _ := strconv.Atoi(strings.TrimSpace(count))
			return kills
		}
	}
	return 0
}

// killTimeout is how long killed processes may take to be gone.
const killTimeout = 10 * time.Second

// Close kills what is in the group and removes it, also for a caller that has gone.
func (g *Group) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTimeout)
	defer cancel()
	var faults []error
	for _, folder := range g.folders {
		faults = append(faults, remove(ctx, folder))
	}
	return errors.Join(faults...)
}

// remove tries until the kernel has let go of the last process.
func remove(ctx context.Context, folder string) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := syscall.Rmdir(folder)
		if err == nil || err == syscall.ENOENT {
			return nil
		}
		kill(folder)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("removing control group %s: %w", folder, err)
		}
	}
}

func kill(folder string) {
	if write(filepath.Join(folder, "cgroup.kill"), "1") == nil {
		return
	}
	members, _ := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
	for _, line := range strings.Fields(string(members)) {
		if pid, err := strconv.Atoi(line); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
