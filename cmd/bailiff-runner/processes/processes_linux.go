package processes

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// process is what /proc tells of one.
type process struct {
	pid, parent int
	zombie      bool
}

// processes lists all that can be seen.
func processes() []process {
	names := pids()
	all := make([]process, 0, len(names))
	for _, pid := range names {
		if p, ok := readProcess(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

func pids() []int {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	var list []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// readProcess reads /proc/PID/stat: "pid (name) state parent …", where the name
// may hold anything.
func readProcess(pid int) (process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return process{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return process{pid, parent, fields[0][0] == 'Z' || fields[0][0] == 'X'}, err == nil
}

// ParentOf is the process that a process was started by; false where there is none to see.
func ParentOf(pid int) (parent int, known bool) {
	p, known := readProcess(pid)
	return p.parent, known
}

// Below lists the living descendants of root, without those that spare holds and
// what is below them.
func Below(root int, spare func(pid int) bool) []int {
	children := map[int][]process{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p)
	}
	var list []int
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, p := range children[queue[0]] {
			if spare(p.pid) {
				continue
			}
			queue = append(queue, p.pid)
			if !p.zombie {
				list = append(list, p.pid)
			}
		}
		delete(children, queue[0])
	}
	return list
}

// stopRounds bounds how often one strike looks for processes that were started
// while it stopped the others.
const stopRounds = 8

// Kill kills the living descendants of root and returns how many it found.
func Kill(root int, spare func(pid int) bool) int {
	return KillAll(func() []int { return Below(root, spare) })
}

// KillAll kills what it finds and returns how many that were. They are stopped
// first, so that none can fork away from under it. Where they are so many that they leave this process
// no time to look at them, everything is stopped meanwhile.
func KillAll(find func() []int) int {
	still := newStandstill()
	defer still.release()
	seen := map[int]bool{}
	for range stopRounds {
		known, wasStopped := len(seen), still.isStopped()
		for _, pid := range find() {
			if !seen[pid] {
				seen[pid] = true
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
		if len(seen) == known && still.isStopped() == wasStopped {
			break
		}
	}
	for pid := range seen {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(seen)
}

// None spares no process.
func None(int) bool { return false }
