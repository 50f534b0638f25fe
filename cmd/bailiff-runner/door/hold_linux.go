package door

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// Hold becomes the runner at the pipes that the door gives. The argument is how many processes the user of this container may have,
// 0 for no bound.
func Hold(rest []string) error {
	if len(rest) != 1 {
		return errors.New("holding: want the number of processes")
	}
	most, err := strconv.ParseUint(rest[0], 10, 31)
	if err != nil {
		return fmt.Errorf("holding: %w", err)
	}
	conn, err := reach()
	if err != nil {
		return fmt.Errorf("reaching the door: %w", err)
	}
	pipes, err := receive(conn)
	if err != nil {
		return fmt.Errorf("taking the door's pipes: %w", err)
	}
	for standard, pipe := range pipes {
		if err := unix.Dup3(pipe, standard, 0); err != nil {
			return fmt.Errorf("taking the door's pipes: %w", err)
		}
	}
	if most > 0 {
		bound := unix.Rlimit{Cur: most, Max: most}
		if err := unix.Setrlimit(unix.RLIMIT_NPROC, &bound); err != nil {
			return fmt.Errorf("bounding processes: %w", err)
		}
	}
	return syscall.Exec("/proc/self/exe", []string{"bailiff-runner", wire.Confine}, []string{})
}

// receive takes the pipes, and waits until the door has closed the connection: before that it has closed its listener.
func receive(conn int) ([]int, error) {
	defer unix.Close(conn)
	said, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(2*4))
	_, n, _, _, err := unix.Recvmsg(conn, said, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("it gave none"), err)
	}
	pipes, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(pipes) != 2 {
		return nil, errors.Join(fmt.Errorf("it gave %d", len(pipes)), err)
	}
	if n, err := unix.Read(conn, said); n != 0 || err != nil {
		return nil, errors.Join(errors.New("it goes on"), err)
	}
	return pipes, nil
}

// reach connects to the door, whose container may start a moment later.
func reach() (int, error) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return 0, err
		}
		err = unix.Connect(conn, &unix.SockaddrUnix{Name: inner})
		if err == nil {
			return conn, nil
		}
		unix.Close(conn)
		if !errors.Is(err, unix.ECONNREFUSED) || time.Now().After(deadline) {
			return 0, err
		}
	}
}
