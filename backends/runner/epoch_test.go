package runner_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// engine passes what one runner says to all that are attached to it, as an engine of containers does.
type engine struct {
	to       *os.File
	mu       sync.Mutex
	attached []*io.PipeWriter
}

func newEngine(t *testing.T) *engine {
	from, to := resident(t)
	e := &engine{to: to}
	go func() {
		piece := make([]byte, 64<<10)
		for {
			n, err := from.Read(piece)
			e.mu.Lock()
			for _, one := range e.attached {
				_, _ = one.Write(piece[:n]) // one that is closed takes nothing
			}
			e.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return e
}

// attach greets the runner as a sidecar's run of an epoch does.
func (e *engine) attach(t *testing.T, epoch int64) (*runner.Client, error) {
	t.Helper()
	hears, said := io.Pipe()
	e.mu.Lock()
	e.attached = append(e.attached, said)
	e.mu.Unlock()
	client, err := runner.Attach(awaittest.Context(t), stream{hears, e.to, hears.Close},
		runner.Place{Workspace: "/", Epoch: epoch, Linger: time.Minute})
	if err == nil {
		t.Cleanup(func() { client.Close() })
	}
	return client, err
}

// A sandbox does nothing more for a sidecar's run once a later one has greeted it, and goes on for the later one.
func TestARunnerRefusesARunThatALaterOneHasSuperseded(t *testing.T) {
	e := newEngine(t)
	old, err := e.attach(t, 7)
	backendtest.Must(t, err)
	runs := started(t, old, "echo begun; read x; echo $x", "runs")
	said(t, runs, "begun\n")
	alone, err := e.attach(t, 7)
	backendtest.Must(t, err)
	backendtest.NoError(t, alone.CheckLatest(t.Context()))

	later, err := e.attach(t, 8)
	backendtest.Must(t, err)
	witness := t.TempDir() + "/witness"
	_, err = old.Run(t.Context(), runner.Shell("echo old >>"+witness), nil)
	if !errors.Is(err, backends.ErrSuperseded) || !errors.Is(err, backends.ErrNotStarted) || !strings.Contains(err.Error(), "epoch is 8") {
		t.Errorf("a command of the earlier run ends with %v", err)
	}
	if err := alone.CheckLatest(t.Context()); !errors.Is(err, backends.ErrSuperseded) {
		t.Errorf("asked whether it is superseded, the runner says %v", err)
	}
	for _, epoch := range []int64{0, 7} {
		if _, err := e.attach(t, epoch); !errors.Is(err, backends.ErrSuperseded) {
			t.Errorf("attaching with epoch %d gives %v", epoch, err)
		}
	}
	exit, err := later.Run(t.Context(), runner.Shell("test ! -e "+witness), nil)
	if err != nil || exit.Code != 0 {
		t.Errorf("a command of the later run ended as %+v, %v: what the earlier one asked for may have run", exit, err)
	}
	found, err := later.Processes(t.Context())
	if err != nil || len(found) != 1 {
		t.Fatalf("the later run finds the processes %v, %v", found, err)
	}
	backendtest.NoError(t, found[0].Write(t.Context(), []byte("later\n")))
	said(t, found[0], "begun\nlater\n")
	again, err := e.attach(t, 8)
	backendtest.Must(t, err)
	if exit, err := again.Run(t.Context(), runner.Shell("true"), nil); err != nil || exit.Code != 0 {
		t.Errorf("attached anew with the same epoch, a command ended as %+v, %v", exit, err)
	}
}

// A runner that does not answer has not said that no later run has it.
func TestARunnerThatIsSilentHasNotSaidWhoHasIt(t *testing.T) {
	t.Parallel()
	silent := answering(func(f wire.Frame, out *wire.Writer) {
		if f.Kind == wire.Hello {
			_ = out.SendAll(wire.Hello, 0, f.Payload)
		}
	})
	client, err := runner.Attach(t.Context(), silent, runner.Place{Epoch: 7})
	backendtest.Must(t, err)
	for range 2 {
		if err := client.CheckLatest(t.Context()); err == nil || errors.Is(err, backends.ErrSuperseded) {
			t.Errorf("asked whether it is superseded, it says %v", err)
		}
		backendtest.Must(t, client.Close()) // nor has one that can be asked no more
	}
}

// What an earlier run says of what it started does not count either: its input reaches nothing, and it keeps no sandbox.
func TestNothingThatAnEarlierRunSaysCounts(t *testing.T) {
	e := newEngine(t)
	old, err := e.attach(t, 7)
	backendtest.Must(t, err)
	runs := started(t, old, "echo begun; read x; echo $x", "runs")
	said(t, runs, "begun\n")
	_, err = e.attach(t, 8)
	backendtest.Must(t, err)
	if err := runs.Write(t.Context(), []byte("old\n")); !errors.Is(err, backends.ErrSuperseded) {
		t.Errorf("input of the earlier run gives %v", err)
	}
	if err := runs.Kill(t.Context()); err == nil {
		t.Error("the earlier run could end a process")
	}
	later, err := e.attach(t, 9)
	backendtest.Must(t, err)
	found, err := later.Processes(t.Context())
	if err != nil || len(found) != 1 {
		t.Fatalf("the later run finds the processes %v, %v", found, err)
	}
	said(t, found[0], "begun\n")
}

// A runner of an earlier release, which says nothing of epochs, is sent nothing that it could not read; nor is any
// where sidecars share no store.
func TestEpochsAreToldOnlyToRunnersThatKnowThem(t *testing.T) {
	for _, c := range []struct {
		name         string
		mine, answer int64
		want         int64
	}{
		{"an earlier runner", 7, 0, 0},
		{"no shared store", 0, 0, 0},
		{"a runner that knows them", 7, 7, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			heard := make(chan int64, 1)
			client, err := runner.Attach(t.Context(), answering(func(f wire.Frame, out *wire.Writer) {
				if f.Kind != wire.Hello {
					heard <- f.Epoch
					_ = out.SendAll(wire.Counted, f.Stream, wire.Encode(wire.Number(0)))
					return
				}
				g, _ := wire.Decode[wire.Greeting](f.Payload)
				if f.Epoch != 0 || g.Epoch != c.mine {
					t.Errorf("it greets with epoch %d in a frame of %d", g.Epoch, f.Epoch)
				}
				g.Epoch = c.answer
				_ = out.SendAll(wire.Hello, 0, wire.Encode(g))
			}), runner.Place{Epoch: c.mine})
			backendtest.Must(t, err)
			defer client.Close()
			_, err = client.Alive(t.Context())
			backendtest.Must(t, err)
			if epoch := <-heard; epoch != c.want {
				t.Errorf("it then sends epoch %d, want %d", epoch, c.want)
			}
		})
	}
}
