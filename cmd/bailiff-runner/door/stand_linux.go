package door

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// What the door's container has for itself: the pipes to the runner and from it, and whose turn it is to speak.
const (
	toRunner   = wire.DoorFolder + "/to"
	fromRunner = wire.DoorFolder + "/from"
	turn       = wire.DoorFolder + "/turn"
)

// inner is the name at which the door gives the pipes away, in the pod's network.
const inner = "@bailiff-runner"

// Stand is the door until this process is told to end. With the argument [wire.Severed] it wants no network to be there.
func Stand(rest []string) error {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	if slices.Contains(rest, wire.Severed) {
		if err := checkSevered(); err != nil {
			return err
		}
	}
	pipes, err := makePipes()
	if err != nil {
		return fmt.Errorf("making pipes: %w", err)
	}
	given := make(chan error, 1)
	go func() { given <- giveAway(pipes) }()
	for {
		select {
		case <-terminated:
			return nil
		case err := <-given:
			if err != nil {
				return fmt.Errorf("giving the pipes to the runner: %w", err)
			}
		}
	}
}

// makePipes opens each pipe both ways and keeps it, so that neither end of the runner's is over while the door stands, and as the runner
// is to have it.
func makePipes() (runners []int, err error) {
	for _, pipe := range []struct {
		path string
		mode int
	}{{toRunner, unix.O_RDONLY}, {fromRunner, unix.O_WRONLY}} {
		if err := unix.Mkfifo(pipe.path, 0o600); err != nil {
			return nil, err
		}
		if _, err := unix.Open(pipe.path, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
			return nil, err
		}
		fd, err := unix.Open(pipe.path, pipe.mode|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		runners = append(runners, fd)
	}
	return runners, nil
}

// giveAway hands the pipes to the first that connects, and to no other: the listener is closed before the connection is.
func giveAway(pipes []int) error {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: inner, Net: "unix"})
	if err != nil {
		return err
	}
	conn, err := listener.AcceptUnix()
	if err := errors.Join(err, listener.Close()); err != nil {
		return err
	}
	_, _, err = conn.WriteMsgUnix([]byte{0}, unix.UnixRights(pipes...), nil)
	for _, fd := range pipes {
		unix.Close(fd)
	}
	return errors.Join(err, conn.Close())
}

// Enter speaks to the runner by this process's input and output, in the place of who did before.
func Enter() error {
	if err := takeTurn(); err != nil {
		return fmt.Errorf("taking the turn: %w", err)
	}
	to, err := os.OpenFile(toRunner, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("coming to the door: %w", err)
	}
	from, err := os.OpenFile(fromRunner, os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("coming to the door: %w", err)
	}
	go func() {
		_, _ = io.Copy(to, os.Stdin)
		os.Exit(0)
	}()
	_, err = io.Copy(os.Stdout, from)
	return err
}

// takeTurn ends who has the turn, and has it as long as this process lives.
func takeTurn() error {
	file, err := unix.Open(turn, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(turnTime); ; time.Sleep(time.Millisecond) {
		err := unix.Flock(file, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if err != unix.EWOULDBLOCK || time.Now().After(deadline) {
			return err
		}
		text, _ := os.ReadFile(turn)
		if earlier, err := strconv.Atoi(string(text)); err == nil && earlier > 1 && earlier != os.Getpid() {
			_ = unix.Kill(earlier, unix.SIGKILL) // it may have gone
		}
	}
	if err := unix.Ftruncate(file, 0); err != nil {
		return err
	}
	_, err = unix.Pwrite(file, []byte(strconv.Itoa(os.Getpid())), 0)
	return err
}

// turnTime is how long a process may take to go that was killed.
const turnTime = 10 * time.Second
