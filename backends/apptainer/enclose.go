package apptainer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends/cgroup"
)

// enclose bounds what the program has started inside, and not the program: of its
// memory and threads nothing is to be taken from what the spec allows. No client has been
// told of the sandbox yet, so all that is inside are the runner and its supervisors.
//
// They are looked for again until no process is new. Then all are in the group: what a
// process in it starts is in it too, and what a process outside started before was there
// to be seen the last time.
func enclose(group *cgroup.Group, program int) error {
	added := map[int]bool{}
	for {
		fresh := 0
		for _, pid := range inside(program) {
			if added[pid] {
				continue
			}
			if err := group.Add(pid); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
			added[pid] = true
			fresh++
		}
		switch {
		case len(added) == 0:
			return fmt.Errorf("finding what %d has started inside: there is nobody", program)
		case fresh == 0:
			return nil
		}
	}
}

// inside lists the processes below the program that are in another namespace of
// processes than the program is.
func inside(program int) (list []int) {
	all := processes()
	for pid, p := range all {
		if p.inside && all.below(pid, program) {
			list = append(list, pid)
		}
	}
	return list
}

type process struct {
	parent int
	inside bool
}

type tree map[int]process

// below says whether a process descends from another.
func (t tree) below(pid, from int) bool {
	for range len(t) {
		if pid = t[pid].parent; pid == from {
			return true
		}
	}
	return false
}

// processes are those of this machine, as far as they can be seen.
func processes() tree {
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	all := tree{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		all[pid] = read(string(text))
	}
	return all
}

func read(status string) (p process) {
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "PPid":
			p.parent, _ = strconv.Atoi(strings.TrimSpace(value))
		case "NSpid": // a number for each namespace that sees it
			p.inside = len(strings.Fields(value)) > 1
		}
	}
	return p
}
