package supervise

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
)

// ends are the files that a command is to have, by their number. Once one could
// not be made, err says so, and no more are.
type ends struct {
	files []uintptr
	err   error
}

// nothing is a file without content.
func (e *ends) nothing() {
	if e.err != nil {
		return
	}
	var fd int
	if fd, e.err = syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0); e.err == nil {
		e.files = append(e.files, uintptr(fd))
	}
}

// inlet is a pipe that the command reads from; it returns our end.
func (e *ends) inlet() *os.File { return e.pipe(0) }

// outlet is one that it writes to.
func (e *ends) outlet() *os.File { return e.pipe(1) }

func (e *ends) pipe(theirs int) *os.File {
	if e.err != nil {
		return nil
	}
	var pair [2]int
	if err := unix.Pipe2(pair[:], unix.O_CLOEXEC); err != nil {
		e.err = fmt.Errorf("making a pipe: %w", err)
		return nil
	}
	e.files = append(e.files, uintptr(pair[theirs]))
	return flow.File(pair[1-theirs])
}

// again is the file before under one more number.
func (e *ends) again() {
	if e.err == nil {
		e.files = append(e.files, e.files[len(e.files)-1])
	}
}

func (e *ends) close() {
	for i, fd := range e.files {
		if i == 0 || fd != e.files[i-1] {
			syscall.Close(int(fd))
		}
	}
}
