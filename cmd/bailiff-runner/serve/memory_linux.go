package serve

import (
	"os"

	"github.com/bailiff-dev/bailiff/backends/cgroup"
)

// starvation tells how many processes the kernel has killed because the sandbox
// had used up its memory, where its control group can be seen from inside, or a file
// of it.
type starvation struct{ file *os.File }

func openStarvation() starvation {
	for _, path := range []string{"/.bailiff/memory.events", "/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"} {
		if file, err := os.Open(path); err == nil {
			return starvation{file}
		}
	}
	return starvation{}
}

func (s starvation) count() int {
	if s.file == nil {
		return 0
	}
	return cgroup.OOMKillsIn(s.file)
}
