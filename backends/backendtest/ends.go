package backendtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// endChecks have sandboxes of their own, since they end them.
func endChecks() []check {
	return []check{
		promise("Closing a sandbox ends all that runs in it", OnPlace|OnUser, closing),
		promise("A sandbox is closed even for a caller that has gone", OnPlace, closingLate),
		promise("A sandbox that breaks in the middle of its work is over for all of it", OnPlace|OnStream, breaking, breakable),
		promise("Changed limits are the end, or nobody can change them", OnPlace|OnUser, changedLimits),
		promise("An opening that is given up leaves nothing", OnPlace, openingGivenUp),
		promise("Sandboxes are opened together and end apart", OnPlace, together),
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
	marker   string
	ended    chan error
	process  backends.Process
	dialogue backends.Dialogue
}

// work opens a sandbox that has a leftover, a command that goes on, one in the
// background, and one that converses.
func (b box) work(t *testing.T) working {
	t.Helper()
	w := working{box: b.another(t, b.spec), marker: marker(), ended: make(chan error, 1)}
	w.run(shell("setsid sleep " + w.marker + " >/dev/null 2>&1 &"))
	go func() {
		_, err := w.Run(context.Background(), argv("sleep", w.marker), func([]byte) {})
		w.ended <- err
	}()
	var failed error
	if w.process, failed = w.Start(t.Context(), argv("sleep", w.marker), "background"); failed != nil {
		t.Fatal(failed)
	}
	if w.dialogue, failed = w.Converse(t.Context(), argv("sleep", w.marker), newEar()); failed != nil {
		t.Fatal(failed)
	}
	Await(t, "all are there", func() bool { return len(w.marked(w.marker)) == 4 })
	return w
}

// over wants everybody to have heard of the end, and nothing to be left.
func (w working) over(t *testing.T) {
	t.Helper()
	if err := <-w.ended; err == nil || errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("the command ended with %v, want an error that does not say it was not started", err)
	}
	for what, of := range map[string]interface {
		Done() <-chan struct{}
		Exit() backends.Exit
	}{"background command": w.process, "dialogue": w.dialogue} {
		if ended(t, of.Done()); !of.Exit().Lost {
			t.Errorf("the %s ended as %+v, want it to be lost", what, of.Exit())
		}
	}
	ended(t, w.Done())
	w.gone(t)
	if _, err := w.Run(context.Background(), shell("true"), nil); !errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("another command: %v, want an error that wraps ErrNotStarted", err)
	}
	if _, err := w.Alive(context.Background()); err == nil {
		t.Error("it still counts processes")
	}
}

// gone wants nothing of the work to be left on this machine.
func (w working) gone(t *testing.T) {
	t.Helper()
	if !w.cfg.Remote {
		Await(t, "no process is left", func() bool { return len(marked(w.marker)) == 0 })
	}
}

func closing(t *testing.T, b box) {
	w := b.work(t)
	NoError(t, w.Close(context.Background()))
	if !w.cfg.Remote {
		if pids := marked(w.marker); len(pids) > 0 {
			t.Errorf("processes %v are left", pids)
		}
	}
	w.over(t)
	if err := w.Close(context.Background()); err != nil {
		t.Errorf("closing it again: %v", err)
	}
	b.says("echo fine", "fine\n")
}

func closingLate(t *testing.T, b box) {
	w := b.work(t)
	before := b.listed(t)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	NoError(t, w.Close(over))
	w.over(t)
	if _, ok := b.backend.(backends.Sweeper); ok && slices.Contains(before, w.ID()) {
		Await(t, "the sandbox is removed", func() bool { return !slices.Contains(b.listed(t), w.ID()) })
	}
}

// listed are the sandboxes that a sweep would find, none of which it may remove.
func (b box) listed(t *testing.T) (list []string) {
	t.Helper()
	if sweeper, ok := b.backend.(backends.Sweeper); ok {
		_, err := sweeper.Sweep(t.Context(), b.spec.Owner, func(id string) bool {
			list = append(list, id)
			return true
		})
		NoError(t, err)
	}
	return list
}

func breaking(t *testing.T, b box) {
	w := b.work(t)
	if b.cfg.Break != nil {
		b.cfg.Break(t, w.Sandbox)
	} else {
		w.killRunner(t)
	}
	w.over(t)
	if err := w.Close(context.Background()); err != nil {
		t.Errorf("closing what has broken: %v", err)
	}
	b.says("echo fine", "fine\n")
	b.another(t, b.spec).says("echo fine", "fine\n")
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
			changed := b
			if !b.backend.Isolated() { // it may be the end
				changed = b.another(t, b.spec)
			}
			exit, _ := changed.run(shell("prlimit --pid " + who + " --" + limit + " 2>/dev/null"))
			if b.backend.Isolated() || exit.Lost { // a supervisor that the limits killed takes them with it
				changed.says("echo fine", "fine\n")
				continue
			}
			_, err := changed.Run(context.Background(), shell("true"), func([]byte) {})
			if exit.Code != 0 || !errors.Is(err, backends.ErrNotStarted) || !strings.Contains(err.Error(), "resource limits") {
				t.Errorf("after %s of %s another command: %v", limit, who, err)
			}
		}
	}
}

// openingGivenUp ends the context of openings earlier and later, and compares what
// there is before and after: processes of this one, and sandboxes, of which a sweep
// may have to take one that was made when no caller waited for it any more.
func openingGivenUp(t *testing.T, b box) {
	sandboxes := b.listed(t)
	processes := descendants(os.Getpid())
	began := time.Now()
	whole, err := b.backend.Open(t.Context(), b.spec)
	Must(t, err)
	took := time.Since(began)
	NoError(t, whole.Close(context.Background()))
	const parts = 5
	for i := range parts {
		ctx, cancel := context.WithTimeout(t.Context(), took*time.Duration(i)/parts)
		sandbox, err := b.backend.Open(ctx, b.spec)
		cancel()
		if err == nil {
			NoError(t, sandbox.Close(context.Background()))
		}
	}
	Await(t, "no sandbox and no process is left", func() bool { // a cloud may make one long after
		if _, ok := b.backend.(backends.Sweeper); ok {
			b.sweep(t, func(id string) bool { return slices.Contains(sandboxes, id) })
		}
		return len(b.listed(t)) <= len(sandboxes) && len(descendants(os.Getpid())) <= len(processes)
	})
}

// descendants are the processes of this machine below one.
func descendants(pid int) (list []int) {
	below := map[int][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		_, after, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(after); len(fields) > 1 {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			above, _ := strconv.Atoi(fields[1])
			below[above] = append(below[above], child)
		}
	}
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		list = append(list, below[next[0]]...)
		next = append(next, below[next[0]]...)
	}
	return list
}

func together(t *testing.T, b box) {
	var all sync.WaitGroup
	opened := make([]backends.Sandbox, 4)
	for i := range opened {
		all.Go(func() {
			sandbox, err := b.backend.Open(t.Context(), b.spec)
			if err != nil {
				t.Error(err)
				return
			}
			opened[i] = sandbox
		})
	}
	all.Wait()
	ids := map[string]bool{"": true}
	for i, sandbox := range opened {
		if sandbox == nil {
			continue
		}
		in := b.holding(sandbox, b.spec)
		in.says(fmt.Sprintf("echo sandbox %d", i), fmt.Sprintf("sandbox %d\n", i))
		if ids[in.ID()] {
			t.Errorf("the name %q is another's", in.ID())
		}
		ids[in.ID()] = true
		NoError(t, in.Close(context.Background()))
	}
}
