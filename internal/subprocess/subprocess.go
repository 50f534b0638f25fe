// Package subprocess runs programs of others to their end, such as those that make images
// and file systems. One is waited for no longer than its context lasts: then it is
// killed, with all of its process group, and so is what it left there when it ended by
// itself. Who is in another group and holds the output open is not waited for. What a
// program says is bounded, and made harmless before it is part of an error.
package subprocess

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/excerpt"
)

// patience is how long the output of a program is read on that has ended.
const patience = time.Second

// longestAnswer bounds what is kept of a program's standard output, in bytes.
const longestAnswer = 1 << 20

// Command is a program that [Output] may run, with no variable but PATH.
func Command(ctx context.Context, path string, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, words...)
	cmd.Env, cmd.Dir = []string{"PATH=" + os.Getenv("PATH")}, "/"
	cmd.Cancel, cmd.WaitDelay = func() error { return End(cmd.Process) }, patience
	Part(cmd)
	return cmd
}

// Output runs a command to its end and returns the beginning of its standard output. The
// end of its standard error is part of the error, unless the command hands that to
// somebody.
func Output(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var said []byte
	var words excerpt.Last
	cmd.Stdout = &excerpt.Writer{Head: longestAnswer, Emit: func(p []byte) { said = append(said, p...) }}
	if cmd.Stderr == nil {
		cmd.Stderr = &words
	}
	err := cmd.Run()
	if cmd.Process != nil {
		_ = End(cmd.Process)
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

// Part gives a command, and so what it starts, a session and a process group of its own.
func Part(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
}

// End kills the group of a process that has parted.
func End(process *os.Process) error {
	if err := syscall.Kill(-process.Pid, syscall.SIGKILL); err != syscall.ESRCH {
		return err
	}
	return os.ErrProcessDone
}
