package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// stream is one end of a conversation whose closing may be left to the test.
type stream struct {
	io.Reader
	io.Writer
	close func() error
}

func (s stream) Close() error { return s.close() }

// answering is a stream to something that answers each frame as it likes.
func answering(answer func(f wire.Frame, out *wire.Writer)) stream {
	theirs, to := io.Pipe()
	from, back := io.Pipe()
	go func() {
		in, out := wire.NewReader(theirs), wire.NewWriter(back)
		for {
			f, err := in.Next()
			if err != nil {
				back.CloseWithError(err)
				return
			}
			answer(f, out)
		}
	}()
	return stream{from, to, func() error { return errors.Join(to.Close(), from.Close()) }}
}

// polite is an answer to hello, and what comes after it.
func polite(version uint32, after func(f wire.Frame, out *wire.Writer)) func(wire.Frame, *wire.Writer) {
	return func(f wire.Frame, out *wire.Writer) {
		if f.Kind != wire.Hello {
			after(f, out)
			return
		}
		g, _ := wire.Decode[wire.Greeting](f.Payload)
		g.Version = version
		_ = out.SendAll(wire.Hello, 0, wire.Encode(g))
	}
}

func TestAttachingTellsWhatIsAtTheOtherEnd(t *testing.T) {
	silent := func(wire.Frame, *wire.Writer) {}
	for _, c := range []struct {
		name, fault string
		other       stream
	}{
		{"another version", "version 1", answering(polite(1, silent))},
		{"an answer to somebody else", "context deadline", answering(func(_ wire.Frame, out *wire.Writer) {
			_ = out.SendAll(wire.Hello, 0, wire.Encode(wire.Greeting{Version: wire.Version, Nonce: "else"}))
		})},
		{"silence", "context deadline", answering(silent)},
		{"nothing", "no answer", stream{strings.NewReader("bash: runner: not found\n"), io.Discard, func() error { return nil }}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			if strings.HasPrefix(c.fault, "context") { // the others are answered, sooner or later
				var cancel func()
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			if _, err := runner.Attach(ctx, c.other, runner.Place{}); err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("error is %v, want it to speak of %q", err, c.fault)
			}
		})
	}
}

func TestARunnerThatMisbehavesEndsTheConversation(t *testing.T) {
	for _, c := range []struct {
		name, fault string
		after       func(wire.Frame, *wire.Writer)
	}{
		{"it sends without credit", "more than it may", func(f wire.Frame, out *wire.Writer) {
			if f.Kind == wire.Start {
				for range 4 * wire.Window / wire.MaxPayload {
					_ = out.Send(wire.Frame{Kind: wire.Output, Stream: f.Stream, Payload: make([]byte, wire.MaxPayload)})
				}
			}
		}},
		{"it ends a command with nonsense", "malformed", func(f wire.Frame, out *wire.Writer) {
			if f.Kind == wire.Start {
				_ = out.Send(wire.Frame{Kind: wire.Ended, Stream: f.Stream, Payload: []byte{1}})
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, err := runner.Attach(t.Context(), answering(polite(wire.Version, c.after)), runner.Place{})
			backendtest.Must(t, err)
			hold := make(chan struct{})
			go func() { <-client.Done(); close(hold) }()
			_, err = client.Run(t.Context(), runner.Shell("true"), func([]byte) { <-hold })
			if err == nil || errors.Is(err, backends.ErrNotStarted) || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("error is %v, want it to speak of %q", err, c.fault)
			}
			client.Close()
		})
	}
}

// A machine that is busy lets killed processes go a few at a time.
func TestAKillGoesOnForAsLongAsFewerProcessesAreLeft(t *testing.T) {
	for _, c := range []struct {
		name, fault string
		left        []int // after each attempt
	}{
		{"all go at once", "", []int{0}},
		{"they go little by little", "", []int{441, 198, 1, 0}},
		{"some never go", "7 processes did not go", []int{198, 7, 7}},
		{"new ones come", "9 processes did not go", []int{8, 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rest := c.left
			other := answering(polite(wire.Version, func(f wire.Frame, out *wire.Writer) {
				if f.Kind == wire.Kill && len(rest) > 0 {
					left := rest[0]
					rest = rest[1:]
					_ = out.SendAll(wire.Killed, f.Stream, wire.Encode(wire.Number(left)))
				}
			}))
			client, err := runner.Attach(t.Context(), other, runner.Place{})
			backendtest.Must(t, err)
			defer client.Close()
			err = client.Kill(t.Context())
			if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) || len(rest) > 0 {
				t.Errorf("error is %v with %d attempts to go, want %q with none", err, len(rest), c.fault)
			}
		})
	}
}

// A runner that is still killing says so, and is waited for; one that says nothing is given up.
func TestARunnerThatTellsThatItIsAtWorkHasTimeToEndACommand(t *testing.T) {
	for _, c := range []struct {
		name  string
		tells bool
	}{{"it tells", true}, {"it is silent", false}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan struct{})
				defer func() { <-ended }()
				other := answering(polite(wire.Version, func(f wire.Frame, out *wire.Writer) {
					if f.Kind != wire.Start {
						return
					}
					go func() {
						defer close(ended)
						for range 5 {
							time.Sleep(runner.Grace - time.Second)
							if c.tells {
								_ = out.SendAll(wire.Credit, f.Stream, wire.Encode(wire.Number(0)))
							}
						}
						_ = out.SendAll(wire.Ended, f.Stream, wire.Encode(wire.End{Code: 124, TimedOut: true}))
					}()
				}))
				client, err := runner.Attach(t.Context(), other, runner.Place{})
				backendtest.Must(t, err)
				defer client.Close()
				cmd := runner.Shell("true")
				cmd.Timeout = time.Second
				if exit, err := client.Run(t.Context(), cmd, func([]byte) {}); exit.TimedOut != c.tells || (err == nil) != c.tells {
					t.Errorf("it ended as %+v, %v", exit, err)
				}
			})
		})
	}
}

// What was not started may be sent to another runner, what was started may not.
func TestARunnerThatStartsNothingMoreTellsWhatItStarted(t *testing.T) {
	t.Parallel()
	first, starts := make(chan uint32, 1), 0
	other := answering(polite(wire.Version, func(f wire.Frame, out *wire.Writer) {
		refusal := wire.Encode(wire.Refusal{Reason: wire.Broken, Text: "it is broken"})
		switch {
		case f.Kind == wire.Start && starts == 0:
			first <- f.Stream
		case f.Kind == wire.Start:
			_ = out.SendAll(wire.Refused, wire.Everything, refusal)
			_ = out.SendAll(wire.Refused, f.Stream, refusal)
		case f.Kind == wire.Count:
			_ = out.SendAll(wire.Ended, <-first, wire.Encode(wire.End{Code: 3}))
			_ = out.SendAll(wire.Counted, f.Stream, wire.Encode(wire.Number(starts)))
		}
		if f.Kind == wire.Start {
			starts++
		}
	}))
	client, err := runner.Attach(t.Context(), other, runner.Place{})
	backendtest.Must(t, err)
	ended := make(chan error, 1)
	go func() {
		exit, err := client.Run(context.Background(), runner.Shell("true"), func([]byte) {})
		if err == nil && exit.Code != 3 {
			err = fmt.Errorf("it ended as %+v", exit)
		}
		ended <- err
	}()
	first <- <-first // it has come
	for _, which := range []string{"sent before it was told", "sent after"} {
		if _, err := client.Run(t.Context(), runner.Shell("true"), func([]byte) {}); !errors.Is(err, backends.ErrNotStarted) {
			t.Errorf("a command that was %s: %v, want it not started", which, err)
		}
	}
	if n, err := client.Alive(t.Context()); err != nil || n != 2 {
		t.Errorf("the runner was told to start %d commands, %v; want 2", n, err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the command that ran: %v", err)
	}
	<-client.Done()
}

// resident starts a real runner and returns both directions to it.
func resident(t *testing.T) (from, to *os.File) {
	t.Helper()
	cmd := exec.Command(backendtest.Runner(t))
	theirIn, to, err := os.Pipe()
	backendtest.Must(t, err)
	from, theirOut, err := os.Pipe()
	backendtest.Must(t, err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, t.Output()
	backendtest.Must(t, cmd.Start())
	theirIn.Close()
	theirOut.Close()
	t.Cleanup(func() {
		to.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the runner ended with %v", err)
		}
		from.Close()
	})
	return from, to
}

// own is a stream over the same pipes that can be closed for itself.
func own(t *testing.T, from, to *os.File) stream {
	t.Helper()
	mine, err := syscall.Dup(int(from.Fd()))
	backendtest.Must(t, err)
	backendtest.Must(t, syscall.SetNonblock(mine, true))
	reader := os.NewFile(uintptr(mine), "own")
	return stream{reader, to, reader.Close}
}

func TestAClientCanAttachWhereAnotherBrokeOff(t *testing.T) {
	from, to := resident(t)
	first, err := runner.Attach(t.Context(), own(t, from, to), runner.Place{Workspace: "/"})
	backendtest.Must(t, err)
	started, ended := make(chan struct{}), make(chan error)
	go func() {
		cmd := runner.Shell("echo; exec yes")
		cmd.HeadBytes = 1 << 30
		begun := false
		_, err := first.Run(context.Background(), cmd, func([]byte) {
			if !begun {
				close(started)
			}
			begun = true
		})
		ended <- err
	}()
	<-started
	first.Close()
	if err := <-ended; err == nil {
		t.Error("the first client's command ended without an error")
	}
	if _, err := to.Write([]byte("\xb5blf in the middle of a frame")); err != nil {
		t.Fatal(err)
	}
	second, err := runner.Attach(t.Context(), own(t, from, to), runner.Place{Workspace: "/"})
	backendtest.Must(t, err)
	var out strings.Builder
	cmd := runner.Shell("echo again")
	cmd.HeadBytes = 100
	exit, err := second.Run(t.Context(), cmd, func(p []byte) { out.Write(p) })
	if err != nil || exit.Code != 0 || out.String() != "again\n" {
		t.Errorf("said %q, %+v, %v", out.String(), exit, err)
	}
	second.Close()
}

func TestTimeInWhichTheReaderIsBusyIsNotTheRunners(t *testing.T) {
	from, to := resident(t)
	client, err := runner.Attach(t.Context(), own(t, from, to), runner.Place{Workspace: "/"})
	backendtest.Must(t, err)
	defer client.Close()
	cmd := runner.Shell("exec yes")
	cmd.HeadBytes, cmd.Timeout = 1<<30, 10*time.Millisecond
	busy := true
	exit, err := client.Run(t.Context(), cmd, func([]byte) {
		if busy {
			time.Sleep(runner.Grace + 100*time.Millisecond)
		}
		busy = false
	})
	if err != nil || !exit.TimedOut {
		t.Errorf("ended as %+v, %v", exit, err)
	}
}

func TestWhatACommandWroteLastWaitsForASlowReader(t *testing.T) {
	from, to := resident(t)
	client, err := runner.Attach(t.Context(), own(t, from, to), runner.Place{Workspace: "/"})
	backendtest.Must(t, err)
	defer client.Close()
	const size = 2_000_000 // of which a part lies in the pipe when the command has ended
	cmd := runner.Shell(fmt.Sprintf("head -c %d /dev/zero", size))
	cmd.HeadBytes, cmd.Timeout = 1<<30, time.Minute
	read := 0
	exit, err := client.Run(t.Context(), cmd, func(p []byte) {
		time.Sleep(5 * time.Millisecond)
		read += len(p)
	})
	if err != nil || exit.Code != 0 || read != size {
		t.Errorf("%d bytes were read of %d, and it ended as %+v, %v", read, size, exit, err)
	}
}

func TestARunnerThatStopsListeningIsGivenUp(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	client, err := runner.Attach(t.Context(), answering(polite(wire.Version, func(f wire.Frame, out *wire.Writer) {
		if f.Kind == wire.Start {
			_ = out.Send(wire.Frame{Kind: wire.Output, Stream: f.Stream, Payload: []byte("x")})
			<-stuck
		}
	})), runner.Place{})
	backendtest.Must(t, err)
	cmd := runner.Shell("true")
	cmd.Timeout = time.Millisecond
	if _, err := client.Run(t.Context(), cmd, func([]byte) {}); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("error is %v, want one about time", err)
	}
}
