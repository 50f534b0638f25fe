package backendtest

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
)

// endChecks have sandboxes of their own, since they end them.
func endChecks() []check {
	return []check{
		promise("Closing a sandbox ends all that runs in it", closing),
		promise("A sandbox that breaks in the middle of its work is over for all of it", breaking, breakable),
		promise("Changed limits are the end, or nobody can change them", changedLimits),
		promise("Two sandboxes have two names", twoNames),
	}
}

func breakable(c Config, b backends.Backend) string {
	if c.Break != nil {
		return ""
	}
	return onThisKernel(c, b)
}

// working is a sandbox in the middle of its work.
type working struct {
	box
	marker string
	ended  chan error
}

// work opens a sandbox that has a leftover and a command that goes on.
func (b box) work(t *testing.T) working {
	t.Helper()
	w := working{b.another(t, b.spec), marker(), make(chan error, 1)}
	w.run(shell("setsid sleep " + w.marker + " >/dev/null 2>&1 &"))
	go func() {
		_, err := w.Run(context.Background(), argv("sleep", w.marker), func([]byte) {})
		w.ended <- err
	}()
	Await(t, "both are there", func() bool { return len(w.marked(w.marker)) == 2 })
	return w
}

// over wants everybody to have heard of the end, and nothing to be left.
func (w working) over(t *testing.T) {
	t.Helper()
	if err := <-w.ended; err == nil || errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("the command ended with %v, want an error that does not say it was not started", err)
	}
	<-w.Done()
	if !w.cfg.Remote {
		Await(t, "no process is left", func() bool { return len(marked(w.marker)) == 0 })
	}
	if _, err := w.Run(context.Background(), shell("true"), nil); !errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("another command: %v, want an error that wraps ErrNotStarted", err)
	}
	if _, err := w.Alive(context.Background()); err == nil {
		t.Error("it still counts processes")
	}
}

func closing(t *testing.T, b box) {
	w := b.work(t)
	if err := w.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if !w.cfg.Remote {
		if pids := marked(w.marker); len(pids) > 0 {
			t.Errorf("processes %v are left", pids)
		}
	}
	w.over(t)
}

func breaking(t *testing.T, b box) {
	w := b.work(t)
	if b.cfg.Break != nil {
		b.cfg.Break(t, w.Sandbox)
	} else {
		w.killRunner(t)
	}
	w.over(t)
}

// killRunner kills what looks after the supervisors of commands.
func (w working) killRunner(t *testing.T) {
	t.Helper()
	for _, pid := range marked(w.marker) {
		if supervisor := parent(t, pid); supervisor != 1 {
			if err := syscall.Kill(parent(t, supervisor), syscall.SIGKILL); err != nil && err != syscall.ESRCH {
				t.Fatal(err)
			}
			return
		}
	}
}

func changedLimits(t *testing.T, b box) {
	for _, who := range []string{"$PPID", "$(awk '/^PPid/ {print $2}' /proc/$PPID/status)"} {
		for _, limit := range []string{"nofile=0:0", "fsize=0", "nproc=0:0"} {
			changed := b.another(t, b.spec)
			exit, _ := changed.run(shell("prlimit --pid " + who + " --" + limit + " 2>/dev/null"))
			if b.backend.Isolated() || exit.Lost { // a supervisor that the limits killed takes them with it
				changed.says("echo fine", "fine\n")
				continue
			}
			<-changed.Done()
			_, err := changed.Run(context.Background(), shell("true"), func([]byte) {})
			if exit.Code != 0 || !errors.Is(err, backends.ErrNotStarted) || !strings.Contains(err.Error(), "resource limits") {
				t.Errorf("after %s of %s another command: %v", limit, who, err)
			}
		}
	}
}

func twoNames(t *testing.T, b box) {
	if a, b := b.another(t, b.spec), b.another(t, b.spec); a.ID() == b.ID() || a.ID() == "" {
		t.Errorf("named %q and %q", a.ID(), b.ID())
	}
}
