package cgroup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/descent"
)

const (
	firstMounts = `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
39 31 0:36 /docker/c0ffee /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
`
	firstGroups = `5:cpu,cpuacct:/
4:memory:/user.slice/one
3:pids:/docker/c0ffee/inner
1:name=systemd:/init.scope
0::/
`
)

func TestHierarchiesAreFoundByController(t *testing.T) {
	second := t.TempDir()
	place(t, filepath.Join(second, "cgroup.controllers"), "cpu io memory\n")
	secondMount := "41 31 0:38 / " + second + " rw,relatime - cgroup2 cgroup2 rw\n"
	for _, c := range []struct {
		name, mounts, groups string
		want                 map[string]string
	}{
		{"first interface, one of them shown in part", firstMounts, firstGroups, map[string]string{
			"cpu": "/sys/fs/cgroup/cpu,cpuacct", "memory": "/sys/fs/cgroup/memory/user.slice/one", "pids": "/sys/fs/cgroup/pids/inner"}},
		{"second interface, without pids", secondMount, "0::/system.slice/bailiff.service\n", map[string]string{
			"cpu": second + "/system.slice/bailiff.service", "memory": second + "/system.slice/bailiff.service", "pids": ""}},
		{"second interface, having stepped down", secondMount, "0::/one/sidecar.bailiff\n", map[string]string{"memory": second + "/one"}},
		{"none", "22 1 8:1 / / rw - ext4 /dev/sda rw\n", "", map[string]string{"cpu": "", "memory": "", "pids": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			mounts, groups := filepath.Join(folder, "mountinfo"), filepath.Join(folder, "cgroup")
			place(t, mounts, c.mounts)
			place(t, groups, c.groups)
			found, err := findHierarchies(mounts, groups)
			backendtest.Must(t, err)
			got := map[string]string{}
			for controller := range c.want {
				got[controller] = found[controller].folder
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
		})
	}
}

func TestALimitThatCannotBeSetIsNamedOrAccepted(t *testing.T) {
	limits := Limits{CPUs: 1, MemoryMB: 1, PIDs: 1}
	none := hierarchies{}
	var missing *Missing
	for accepted, want := range map[string][]string{CPUs: {MemoryMB, PIDs}, "": {CPUs, MemoryMB, PIDs}} {
		_, err := none.newGroup(limits, []string{accepted})
		if !errors.As(err, &missing) || !slices.Equal(missing.Limits, want) {
			t.Errorf("error is %v, want %v as missing", err, want)
			continue
		}
		for _, limit := range want {
			if !strings.Contains(err.Error(), limit+" cannot be bounded") {
				t.Errorf("%q does not say why %s is missing", err, limit)
			}
		}
	}
	group, err := none.newGroup(limits, []string{CPUs, MemoryMB, PIDs})
	backendtest.Must(t, err)
	backendtest.NoError(t, errors.Join(group.Add(os.Getpid()), group.Close(context.Background())))
}

// TestTheSecondInterfaceIsToldTheLimits stands in for a kernel with folders: it
// makes the files that the kernel would make.
func TestTheSecondInterfaceIsToldTheLimits(t *testing.T) {
	own := t.TempDir()
	place(t, filepath.Join(own, "cgroup.subtree_control"), "cpu memory pids")
	group := filepath.Join(own, "bailiff-x")
	for _, name := range []string{"cpu.max", "cpu.weight", "memory.max", "memory.swap.max", "pids.max", "cgroup.procs"} {
		place(t, filepath.Join(group, name), "")
	}
	made := &Group{folders: []string{group}}
	here := hierarchies{"cpu": {own, true}, "memory": {own, true}, "pids": {own, true}}
	for _, s := range (Limits{CPUs: 1.5, MemoryMB: 64, PIDs: 100}).settings() {
		backendtest.Must(t, made.set(here, "bailiff-x", s))
	}
	backendtest.Must(t, made.Add(4711))
	for name, want := range map[string]string{"cpu.max": "150000 100000", "cpu.weight": "50", "memory.max": "67108864",
		"memory.swap.max": "0", "pids.max": "100", "cgroup.procs": "4711"} {
		if text, err := os.ReadFile(filepath.Join(group, name)); err != nil || string(text) != want {
			t.Errorf("%s is told %q, %v, want %q", name, text, err, want)
		}
	}
}

// TestARealGroup needs a kernel that lets this user make control groups, which
// root is.
func TestARealGroup(t *testing.T) {
	group, err := New(Limits{CPUs: 0.5, MemoryMB: 64, PIDs: 32}, nil)
	var missing *Missing
	if os.Getuid() != 0 && errors.As(err, &missing) {
		backendtest.Needs(t, "CONTROL GROUPS", err)
	}
	backendtest.Must(t, err)
	cmd := exec.Command("sleep", "1000")
	backendtest.Must(t, cmd.Start())
	backendtest.Must(t, group.Add(cmd.Process.Pid))
	for _, folder := range group.folders {
		if !strings.HasPrefix(filepath.Base(folder), descent.Prefix) {
			t.Errorf("the group is called %s", folder)
		}
	}
	if weights := weightsOf(group); !slices.Equal(weights, []string{"512"}) && !slices.Equal(weights, []string{"50"}) {
		t.Errorf("its weights are %q, want half of what a group has that was told none", weights)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	backendtest.NoError(t, group.Close(t.Context()))
	<-ended
	for _, folder := range group.folders {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", folder, err)
		}
	}
}

// weightsOf reads how much the group weighs, by either interface of the kernel.
func weightsOf(group *Group) (list []string) {
	for _, folder := range group.folders {
		for _, name := range []string{"cpu.shares", "cpu.weight"} {
			if text, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
				list = append(list, strings.TrimSpace(string(text)))
			}
		}
	}
	return list
}

// asMaker makes this test program make a group with a process in it, and wait to
// be killed.
const asMaker = "CGROUP_TEST_MAKER"

// TestSweepingEndsWhatTheDeadLeft kills a process that made a group, within which
// another one lives on; a group of this process's own must stay.
func TestSweepingEndsWhatTheDeadLeft(t *testing.T) {
	limits := Limits{CPUs: 0.5, MemoryMB: 64, PIDs: 32}
	mine, err := New(limits, nil)
	var missing *Missing
	if os.Getuid() != 0 && errors.As(err, &missing) {
		backendtest.Needs(t, "CONTROL GROUPS", err)
	}
	backendtest.Must(t, err)
	if os.Getenv(asMaker) != "" {
		beMaker(t, mine)
	}
	defer mine.Close(context.Background())
	maker := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	maker.Env = append(os.Environ(), asMaker+"=1")
	told, err := maker.StdoutPipe()
	backendtest.Must(t, err)
	backendtest.Must(t, maker.Start())
	var kept int
	var folders string
	if _, err := fmt.Fscanln(told, &kept, &folders); err != nil {
		t.Fatal(err)
	}
	backendtest.Must(t, maker.Process.Kill())
	_ = maker.Wait()
	_, err = Sweep(t.Context()) // a sidecar beside may be the one that removes it
	backendtest.NoError(t, err)
	for folder := range strings.SplitSeq(folders, ",") {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", folder, err)
		}
	}
	if stat, err := readState(kept); err == nil && stat != "Z" {
		t.Errorf("process %d is left, %s", kept, stat)
	}
	for _, folder := range mine.folders {
		if _, err := os.Stat(folder); err != nil {
			t.Errorf("a group whose maker lives is gone: %v", err)
		}
	}
}

func beMaker(t *testing.T, group *Group) {
	member := exec.Command("sleep", "1000")
	backendtest.Must(t, member.Start())
	backendtest.Must(t, group.Add(member.Process.Pid))
	fmt.Println(member.Process.Pid, strings.Join(group.folders, ","))
	_ = member.Wait()
}

// readState is the letter for what a process does.
func readState(pid int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0], nil
}

func place(t *testing.T, path, text string) {
	t.Helper()
	backendtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	backendtest.Must(t, os.WriteFile(path, []byte(text), 0o644))
}
