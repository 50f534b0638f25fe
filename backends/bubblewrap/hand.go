package bubblewrap

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/limits"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// Hand makes a sandbox whose runner speaks over in and out, with the client at their
// other ends, and waits for its end. Once it is certain that there will be one, announce
// is called, before the runner says anything; what fails later than that is an error too.
func (b *Backend) Hand(ctx context.Context, spec backends.Spec, in, out *os.File, announce func() error) error {
	if err := b.able(ctx, spec); err != nil {
		return err
	}
	group, err := limits.Group(b.Backend, spec, b.cfg.AcceptMissing)
	if err != nil {
		return err
	}
	defer group.Close(ctx)
	var held *runner.Held
	err = b.launch(ctx, spec, group, func(int) error { return announce() }, func(cmd *exec.Cmd, prepare, admit func() error) (err error) {
		if err := give(cmd, in, out); err != nil {
			return err
		}
		held, err = runner.Hold(cmd, prepare, admit)
		return err
	})
	if err != nil {
		return err
	}
	err = held.Wait()
	if group.OOMKills() > 0 {
		err = limits.WithMemoryHint(err)
	}
	return err
}

// give hands both down, and keeps them.
func give(cmd *exec.Cmd, in, out *os.File) error {
	theirs, err := again(in)
	if err != nil {
		return err
	}
	cmd.Stdin = theirs
	if theirs, err = again(out); err != nil {
		return err
	}
	cmd.Stdout = theirs
	return nil
}

func again(file *os.File) (*os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	number, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		return nil, fmt.Errorf("handing down %s: %w", file.Name(), err)
	}
	syscall.CloseOnExec(number)
	return os.NewFile(uintptr(number), file.Name()), nil
}
