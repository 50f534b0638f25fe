// Package subprocess runs programs of others to their end, such as those that make images
// and file systems. One is waited for no longer than its context lasts: then it is
// killed, with all of its process group. What it left there when it ended by itself is
// killed at once, on Linux only. Who is in another group and holds the output open is not
// waited for. What a program says is bounded, and made harmless before it is part of an error.
package subprocess

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// patience is how long the output of a program is read on that has ended.
const patience = time.Second

// longestAnswer bounds what is kept of a program's standard output, in bytes.
const longestAnswer = 1 << 20

// Command is a program that [Output] may run, with no variable but PATH.
func Command(ctx context.Context, path string, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, words...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{"PATH=" + os.Getenv("PATH")}, "/", patience
	part(cmd)
	return cmd
}

// Output runs a command to its end and returns the beginning of its standard output. The
// end of its standard error is part of the error, unless the command hands that to
// a user.
func Output(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var said []byte
	var words headtail.Last
	cmd.Stdout = &headtail.Writer{Head: longestAnswer, Emit: func(p []byte) { said = append(said, p...) }}
	if cmd.Stderr == nil {
		cmd.Stderr = &words
	}
	p, err := Start(cmd)
	if err == nil {
		if awaitEnd(cmd.Process) {
			_ = p.Kill()
		}
		err = p.Wait()
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err == nil {
		return string(said), nil
	}
	err = fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err)
	if last := bailiff.Foreign(words.String()); last != "" {
		err = fmt.Errorf("%w: %s", err, last)
	}
	return "", err
}

// Program is one that was started, with a session and a process group of its own.
type Program struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	over bool // its number may be another's
}

// Start starts a command. If that has a context, its end is the end of the program's
// whole group.
func Start(cmd *exec.Cmd) (*Program, error) {
	p := &Program{cmd: cmd}
	part(cmd)
	if cmd.Cancel != nil {
		cmd.Cancel = p.Kill
	}
	return p, cmd.Start()
}

// Wait waits for the program's end, which is an error unless it ended well. The caller has to.
func (p *Program) Wait() error {
	if awaitEnd(p.cmd.Process) {
		p.leave()
	}
	defer p.leave()
	return p.cmd.Wait()
}

// leave gives the number of the program back.
func (p *Program) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// Kill kills the program's group, which needs the number of a program that no call has
// waited for: the number of any other may by now be that of a group which has nothing
// to do with it.
func (p *Program) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return os.ErrProcessDone
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL); err != syscall.ESRCH {
		return err
	}
	return os.ErrProcessDone
}

// part gives a command, and so what it starts, a session and a process group of its own.
func part(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
}
