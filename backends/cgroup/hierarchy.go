package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// hierarchy is a tree of control groups.
type hierarchy struct {
	// folder is this process's own group, below which new ones are made; or the
	// one above, if it has stepped down from there to make them.
	folder  string
	unified bool
}

// hierarchies are those that hold a controller, by its name.
type hierarchies map[string]hierarchy

// findHierarchies reads which trees are mounted and where this process stands
// in them.
func findHierarchies(mounts, groups string) (hierarchies, error) {
	mounted, err := os.ReadFile(mounts)
	if err != nil {
		return nil, fmt.Errorf("reading where control groups are mounted: %w", err)
	}
	own, err := os.ReadFile(groups)
	if err != nil {
		return nil, fmt.Errorf("reading the own control groups: %w", err)
	}
	paths := ownPaths(string(own))
	all := hierarchies{}
	for line := range strings.Lines(string(mounted)) {
		m, ok := parseMount(line)
		if !ok {
			continue
		}
		for _, controller := range m.controllers() {
			if path, ok := paths[m.key(controller)]; ok {
				all[controller] = hierarchy{m.inside(strings.TrimSuffix(path, "/"+below)), m.unified}
			}
		}
	}
	return all, nil
}

// ownPaths reads /proc/self/cgroup: "5:cpu,cpuacct:/path", "0::/path".
func ownPaths(text string) map[string]string {
	paths := map[string]string{}
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			paths[controller] = fields[2]
		}
	}
	return paths
}

type mount struct {
	root, target string
	unified      bool
	options      []string
}

// parseMount reads a line of mountinfo: "id parent dev root target options … -
// type source super-options".
func parseMount(line string) (mount, bool) {
	before, after, found := strings.Cut(line, " - ")
	head, tail := strings.Fields(before), strings.Fields(after)
	if !found || len(head) < 5 || len(tail) < 3 || tail[0] != "cgroup" && tail[0] != "cgroup2" {
		return mount{}, false
	}
	return mount{head[3], head[4], tail[0] == "cgroup2", strings.Split(tail[2], ",")}, true
}

// controllers are those that the mounted tree holds.
func (m mount) controllers() []string {
	if !m.unified {
		return m.options
	}
	text, _ := os.ReadFile(filepath.Join(m.target, "cgroup.controllers"))
	return strings.Fields(string(text))
}

// key is how /proc/self/cgroup names the tree.
func (m mount) key(controller string) string {
	if m.unified {
		return ""
	}
	return controller
}

// inside is where a group is found below the mount, which may show a part of
// the tree only.
func (m mount) inside(path string) string {
	if m.root != "/" {
		path = strings.TrimPrefix(path, m.root)
	}
	return filepath.Join(m.target, path)
}

// enable makes a controller work in groups below this process's own. The kernel
// wants a group either to hold processes or to pass controllers on, so this
// process moves into a group of its own first if it must.
func (h hierarchy) enable(controller string) error {
	switches := filepath.Join(h.folder, "cgroup.subtree_control")
	text, err := os.ReadFile(switches)
	if err != nil {
		return err
	}
	for _, on := range strings.Fields(string(text)) {
		if on == controller {
			return nil
		}
	}
	err = write(switches, "+"+controller)
	if errors.Is(err, syscall.EBUSY) {
		if err := h.stepDown(); err != nil {
			return err
		}
		err = write(switches, "+"+controller)
	}
	return err
}

// below is the group that this process moves into.
const below = "sidecar.bailiff"

// stepDown moves this process into a group below its own.
func (h hierarchy) stepDown() error {
	folder := filepath.Join(h.folder, below)
	if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return write(filepath.Join(folder, "cgroup.procs"), "0")
}
