package runner_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// attached is a client of the runner at the other end, which its test closes.
func attached(t *testing.T, from, to *os.File, place runner.Place) *runner.Client {
	t.Helper()
	place.Workspace = "/"
	client, err := runner.Attach(t.Context(), own(t, from, to), place)
	backendtest.Must(t, err)
	return client
}

func started(t *testing.T, client *runner.Client, script, tag string) backends.Process {
	t.Helper()
	p, err := client.Start(t.Context(), runner.Shell(script), tag)
	backendtest.Must(t, err)
	return p
}

// said waits until a background command's log is a text.
func said(t *testing.T, p backends.Process, want string) {
	t.Helper()
	backendtest.Await(t, "it said "+want, func() bool {
		piece, err := p.Log(t.Context(), 0, 1000)
		backendtest.Must(t, err)
		return string(piece.Data) == want
	})
}

func TestBackgroundCommandsAreFoundAgainByALaterClient(t *testing.T) {
	from, to := resident(t)
	first := attached(t, from, to, runner.Place{})
	for _, p := range []backends.Process{
		started(t, first, "echo over; exit 3", "over"),
		started(t, first, "echo runs; read x; echo $x; exit 4", "runs"),
		started(t, first, "echo stays; exec sleep 1000", "stays"),
	} {
		said(t, p, p.Tag()+"\n")
	}
	dialogue, err := first.Converse(t.Context(), runner.Shell("read -u 3"), silent{})
	backendtest.Must(t, err)
	first.Close()
	if <-dialogue.Done(); !dialogue.Exit().Lost {
		t.Errorf("the first client's dialogue ended as %+v", dialogue.Exit())
	}
	second := attached(t, from, to, runner.Place{})
	defer second.Close()
	known, err := second.Processes(t.Context())
	if err != nil || len(known) != 3 || known[0].Tag() != "over" || known[1].Tag() != "runs" || known[2].Tag() != "stays" {
		t.Fatalf("known are %v, %v", known, err)
	}
	over, runs, stays := known[0], known[1], known[2]
	<-over.Done()
	if said(t, over, "over\n"); over.Exit().Code != 3 {
		t.Errorf("what had ended did so as %+v", over.Exit())
	}
	backendtest.NoError(t, runs.Write(t.Context(), []byte("again\n")))
	<-runs.Done()
	if said(t, runs, "runs\nagain\n"); runs.Exit().Code != 4 {
		t.Errorf("what went on ended as %+v", runs.Exit())
	}
	if err := stays.Kill(t.Context()); err != nil || !stays.Exit().Interrupted {
		t.Errorf("what was killed ended as %+v, %v", stays.Exit(), err)
	}
	for _, p := range known {
		backendtest.NoError(t, p.Forget(t.Context()))
	}
}

type silent struct{}

func (silent) Output([]byte) {}
func (silent) Line([]byte)   {}

func TestBackgroundCommandsTakeThePlacesOfOthersUntilTheyEnd(t *testing.T) {
	from, to := resident(t)
	place := runner.Place{PIDs: 1} // room for one
	first := attached(t, from, to, place)
	runs := started(t, first, "exec sleep 1000", "runs")
	if err := runs.Forget(t.Context()); err == nil {
		t.Error("what runs was forgotten")
	}
	full := func(client *runner.Client) {
		t.Helper()
		cmd := runner.Shell("true")
		cmd.Timeout = time.Millisecond
		if _, err := client.Run(t.Context(), cmd, nil); !errors.Is(err, backends.ErrFull) {
			t.Errorf("beside it: %v, want an error that wraps ErrFull", err)
		}
		if _, err := client.Start(t.Context(), cmd, "other"); !errors.Is(err, backends.ErrFull) {
			t.Errorf("beside it in the background: %v, want an error that wraps ErrFull", err)
		}
		if _, err := client.Converse(t.Context(), cmd, silent{}); !errors.Is(err, backends.ErrFull) {
			t.Errorf("a dialogue beside it: %v, want an error that wraps ErrFull", err)
		}
	}
	full(first)
	first.Close()
	second := attached(t, from, to, place)
	defer second.Close()
	full(second)
	known, err := second.Processes(t.Context())
	if err != nil || len(known) != 1 {
		t.Fatalf("known are %v, %v", known, err)
	}
	backendtest.Must(t, known[0].Kill(t.Context()))
	if _, err := second.Run(t.Context(), runner.Shell("true"), nil); err != nil {
		t.Errorf("after its end: %v", err)
	}
}

// children counts the processes of this machine that a process has started.
func children(pid string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if fields := strings.Fields(string(text)); len(fields) > 3 && fields[3] == pid {
			n++
		}
	}
	return n
}

// A client that breaks off in the middle of the message that starts a command
// leaves nothing that waits for the rest.
func TestHalfAMessageStartsNothing(t *testing.T) {
	from, to := resident(t)
	attached(t, from, to, runner.Place{}).Close()
	const idle = 3 // supervisors wait for commands
	script := "exit 0 " + strings.Repeat("#", 3*wire.MaxPayload)
	for i, mode := range []wire.Mode{wire.Foreground, wire.Background} {
		job := wire.Encode(wire.Job{Terms: wire.Terms{Mode: mode, Tag: "half"}, Dir: "/", Argv: []string{"/bin/bash", "-c", script}})
		out := wire.NewWriter(to)
		backendtest.Must(t, out.Send(wire.Frame{Kind: wire.Start, Stream: uint32(7 + i), Payload: job[:wire.MaxPayload]}))
		client := attached(t, from, to, runner.Place{})
		known, err := client.Processes(t.Context())
		if err != nil || len(known) != 0 {
			t.Errorf("known are %v, %v", known, err)
		}
		var pid bytes.Buffer
		who := runner.Shell(`read _ _ _ pid _ < /proc/$PPID/stat; echo $pid`)
		who.HeadBytes = 100
		if _, err := client.Run(t.Context(), who, func(p []byte) { pid.Write(p) }); err != nil {
			t.Fatal(err)
		}
		backendtest.Await(t, "no supervisor waits for the rest", func() bool { return children(strings.TrimSpace(pid.String())) <= idle })
		client.Close()
	}
}

func TestARunnerThatHearsNothingEndsWithAllThatRuns(t *testing.T) {
	from, to := resident(t)
	client := attached(t, from, to, runner.Place{Linger: time.Second})
	p := started(t, client, "echo $$; exec sleep 1000", "sleeps")
	// The client's word is heard while nothing else is said.
	if exit, err := client.Run(t.Context(), runner.Shell("sleep 1.5"), nil); err != nil || exit.Code != 0 {
		t.Fatalf("ended as %+v, %v", exit, err)
	}
	pid := 0
	backendtest.Await(t, "it says its number", func() bool {
		piece, err := p.Log(t.Context(), 0, 100)
		backendtest.Must(t, err)
		pid, err = strconv.Atoi(strings.TrimSuffix(string(piece.Data), "\n"))
		return err == nil && strings.HasSuffix(string(piece.Data), "\n")
	})
	// What is said and not read holds up no end.
	flood := runner.Shell("exec yes")
	flood.HeadBytes = 1 << 30
	flows := make(chan struct{}, 1)
	go func() {
		_, _ = client.Run(context.Background(), flood, func([]byte) {
			select {
			case flows <- struct{}{}:
			default:
			}
		})
	}()
	<-flows
	client.Close()
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("when the client had gone, the background command was too: %v", err)
	}
	backendtest.Await(t, "the background command is gone", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	if _, err := io.Copy(io.Discard, from); err != nil { // until the runner is gone, too
		t.Error(err)
	}
}
