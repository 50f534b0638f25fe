package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends"
)

// bench is a place on this machine, without any limits.
type bench struct{ home string }

// talk is a process of it that converses.
type talk struct {
	cmd  *exec.Cmd
	to   *os.File
	done chan struct{}
	exit backends.Exit
}

func (b bench) Converse(_ context.Context, cmd backends.Command, hear backends.Listener) (backends.Dialogue, error) {
	var pipes [6]*os.File // reading and writing ends of: output, what it hears, what it says
	for i := 0; i < len(pipes); i += 2 {
		var err error
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	c := exec.Command(cmd.Argv[0], cmd.Argv[1:]...)
	c.Dir, c.Stdout, c.Stderr, c.ExtraFiles = b.home, pipes[1], pipes[1], []*os.File{pipes[2], pipes[5]}
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	for name, value := range cmd.Env {
		c.Env = append(c.Env, name+"="+value.Reveal())
	}
	err := c.Start()
	for _, theirs := range []*os.File{pipes[1], pipes[2], pipes[5]} {
		theirs.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w: %w", backends.ErrNotStarted, backends.ErrUnfit, err)
	}
	t := &talk{cmd: c, to: pipes[3], done: make(chan struct{})}
	var listening sync.WaitGroup
	listening.Go(func() { listen(pipes[0], pipes[4], hear) })
	go t.await(&listening, pipes[0], pipes[4])
	return t, nil
}

func (t *talk) await(listening *sync.WaitGroup, from ...*os.File) {
	_ = t.cmd.Wait()
	end(t.cmd.Process.Pid)
	listening.Wait()
	for _, f := range from {
		f.Close()
	}
	status := t.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if t.exit.Code = status.ExitStatus(); status.Signaled() {
		t.exit.Code = 128 + int(status.Signal())
	}
	close(t.done)
	t.to.Close()
}

// listen hands on what is printed before the lines that were written after it.
func listen(output, lines *os.File, hear backends.Listener) {
	var rest []byte
	for said := true; said; {
		fds := []unix.PollFd{{Fd: int32(output.Fd()), Events: unix.POLLIN}, {Fd: int32(lines.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil {
			said = errors.Is(err, unix.EINTR)
			continue
		}
		if fds[1].Revents == 0 {
			drain(output, hear)
			continue
		}
		chunk := make([]byte, 64<<10)
		n, _ := lines.Read(chunk)
		said = n > 0
		drain(output, hear)
		rest = append(rest, chunk[:n]...)
		for line, after, found := bytes.Cut(rest, []byte("\n")); found; line, after, found = bytes.Cut(rest, []byte("\n")) {
			hear.Line(bytes.Clone(line))
			rest = after
		}
	}
}

func drain(output *os.File, hear backends.Listener) {
	for {
		waiting, err := unix.IoctlGetInt(int(output.Fd()), unix.TIOCINQ)
		if err != nil || waiting == 0 {
			return
		}
		chunk := make([]byte, waiting)
		n, _ := output.Read(chunk)
		hear.Output(chunk[:n])
	}
}

func (t *talk) Say(line []byte) error {
	_, err := t.to.Write(append(bytes.Clone(line), '\n'))
	return err
}

func (t *talk) Break() error {
	for _, child := range children(t.cmd.Process.Pid) {
		end(child)
	}
	return t.cmd.Process.Signal(syscall.SIGINT)
}

func (t *talk) Kill(context.Context) error {
	for _, child := range children(t.cmd.Process.Pid) {
		end(child)
	}
	_ = t.cmd.Process.Kill()
	<-t.done
	return nil
}

func (t *talk) Done() <-chan struct{} { return t.done }
func (t *talk) Exit() backends.Exit   { return t.exit }

// children are those of all of a process's threads.
func children(pid int) (list []int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, thread := range threads {
		text, _ := os.ReadFile(thread)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}

// end kills a process with its children, as far as they are found.
func end(pid int) {
	for _, child := range children(pid) {
		end(child)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func place(t *testing.T) bench {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatal("the tests of kernels need python3")
	}
	return bench{t.TempDir()}
}
