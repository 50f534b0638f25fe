package subprocess

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitEnd waits until a process has ended, and leaves it its number.
func awaitEnd(process *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
