package runner_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/nettest"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

func TestAConnectionOfAnOutletIsAConnectionAsGoKnowsIt(t *testing.T) {
	nettest.TestConn(t, func() (one, other net.Conn, stop func(), err error) {
		here, there := net.Pipe()
		one, other = runner.Joined(here, there)
		return one, other, func() { here.Close(); there.Close() }, nil
	})
}

// spoken is a runner of the test's that opened a connection.
type spoken struct {
	out  *wire.Writer
	said chan wire.Frame
	conn backends.OutletConn
}

// outletOf is what a client has that was told of one connection. What it says of that is
// passed to the test.
func outletOf(t *testing.T) (*runner.Client, spoken) {
	t.Helper()
	s := spoken{said: make(chan wire.Frame, 1000)}
	opened := make(chan *wire.Writer, 1)
	client, err := runner.Attach(t.Context(), answering(polite(wire.Version, func(f wire.Frame, out *wire.Writer) {
		if f.Kind != wire.Outlet {
			f.Payload = append([]byte{}, f.Payload...)
			s.said <- f
			return
		}
		_ = out.SendAll(wire.OutletReady, f.Stream, wire.Encode(wire.OutletFacts{Port: 3128}))
		_ = out.Send(wire.Frame{Kind: wire.Opened, Stream: 1, Payload: wire.Encode(wire.Arrival{Label: 77}), Last: true})
		opened <- out
	})), runner.Place{Outlet: true})
	backendtest.Must(t, err)
	t.Cleanup(func() { client.Close() })
	conns := make(chan backends.OutletConn, 1)
	facts, err := client.OpenOutlet(t.Context(), backends.OutletTerms{MostConnections: 1}, func(c backends.OutletConn) { conns <- c })
	if err != nil || facts.Port != 3128 {
		t.Fatalf("opening says %+v, %v", facts, err)
	}
	s.out, s.conn = <-opened, <-conns
	return client, s
}

func (s spoken) carry(n int, last bool) error {
	return s.out.SendBulk(wire.Frame{Kind: wire.Carry, Stream: 1, Payload: make([]byte, n), Last: last})
}

// awaits waits for a frame of each kind.
func (s spoken) awaits(t *testing.T, kinds ...wire.Kind) map[wire.Kind]wire.Frame {
	t.Helper()
	late, came := backendtest.Late(t), map[wire.Kind]wire.Frame{}
	for len(came) < len(kinds) {
		select {
		case f := <-s.said:
			if slices.Contains(kinds, f.Kind) {
				came[f.Kind] = f
			}
		case <-late:
			t.Fatalf("waited in vain for frames of the kinds %d: %d came", kinds, len(came))
		}
	}
	return came
}

func TestARunnerThatSaysTooMuchOfConnectionsEndsTheConversation(t *testing.T) {
	for _, c := range []struct {
		name string
		says func(spoken) error
	}{
		{"more bytes than may be in flight", func(s spoken) error {
			return errors.Join(s.carry(wire.MaxPayload, false), s.carry(wire.MaxPayload, false))
		}},
		{"bytes after the last", func(s spoken) error { return errors.Join(s.carry(1, true), s.carry(1, false)) }},
		{"one connection more than there may be", func(s spoken) error {
			return s.out.Send(wire.Frame{Kind: wire.Opened, Stream: 2, Payload: wire.Encode(wire.Arrival{})})
		}},
		{"a label that is none", func(s spoken) error { return s.out.Send(wire.Frame{Kind: wire.Opened, Stream: 3}) }},
		{"credit that was not used", func(s spoken) error {
			return s.out.Send(wire.Frame{Kind: wire.Allow, Stream: 1, Payload: wire.Encode(wire.Number(1))})
		}},
		{"a wider window twice", func(s spoken) error {
			wider := wire.Frame{Kind: wire.Widen, Stream: 1, Last: true}
			return errors.Join(s.out.Send(wider), s.out.Send(wider))
		}},
		{"credit for all that was not used", func(s spoken) error {
			return s.out.Send(wire.Frame{Kind: wire.Allow, Stream: wire.Everything, Payload: wire.Encode(wire.Number(1))})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, s := outletOf(t)
			backendtest.Must(t, c.says(s))
			<-client.Done()
			if _, err := s.conn.Write([]byte("x")); err == nil {
				t.Error("the connection can still be written to")
			}
		})
	}
}

// widened has the program of a connection send so much that the runner is told to send more before it hears
// what was read.
func (s spoken) widened(t *testing.T) {
	t.Helper()
	for sent := 0; sent < wire.Much; sent += wire.MaxPayload {
		backendtest.Must(t, s.carry(wire.MaxPayload, false))
		if _, err := io.ReadFull(s.conn, make([]byte, wire.MaxPayload)); err != nil {
			t.Fatal(err)
		}
	}
	s.awaits(t, wire.Widen)
}

func TestAConnectionThatCarriesMuchMayHaveMoreInFlightWithinABound(t *testing.T) {
	client, s := outletOf(t)
	s.widened(t)
	const each = wire.WideWindow/8 - wire.Overhead
	for range 8 {
		backendtest.Must(t, s.carry(each, false))
	}
	if n, err := io.ReadFull(s.conn, make([]byte, 8*each)); err != nil {
		t.Fatalf("of a wide window's bytes %d came, %v", n, err)
	}
	for range 9 {
		_ = s.carry(each, false) // the conversation may have ended meanwhile
	}
	<-client.Done()
}

func TestAProgramThatReadsMuchIsSentMoreBeforeItIsHeard(t *testing.T) {
	_, s := outletOf(t)
	backendtest.Must(t, s.out.Send(wire.Frame{Kind: wire.Widen, Stream: 1, Last: true}))
	wrote := make(chan error, 1)
	go func() {
		_, err := s.conn.Write(make([]byte, wire.WideWindow*7/8))
		wrote <- err
	}()
	select {
	case err := <-wrote:
		backendtest.Must(t, err)
	case <-backendtest.Late(t):
		t.Error("the usual window holds up what the wide one lets pass")
	}
}

func TestAnOutletIsOpenedOnlyAsItCanBe(t *testing.T) {
	terms := backends.OutletTerms{MostConnections: 1}
	for _, c := range []struct {
		name, fault string
		place       runner.Place
		terms       backends.OutletTerms
	}{
		{"another network", "egress", runner.Place{}, terms},
		{"no connections", "want 1 or more", runner.Place{Outlet: true}, backends.OutletTerms{}},
		{"a certificate without end", "at most", runner.Place{Outlet: true},
			backends.OutletTerms{MostConnections: 1, CA: make([]byte, wire.MaxOutlet)}},
		{"a runner that cannot", "no room", runner.Place{Outlet: true}, terms},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, err := runner.Attach(t.Context(), answering(polite(wire.Version, func(f wire.Frame, out *wire.Writer) {
				_ = out.SendAll(wire.OutletReady, f.Stream, wire.Encode(wire.OutletFacts{Fault: "no room"}))
			})), c.place)
			backendtest.Must(t, err)
			defer client.Close()
			_, err = client.OpenOutlet(t.Context(), c.terms, func(c backends.OutletConn) { c.Close() })
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("error is %v, want it to speak of %q", err, c.fault)
			}
		})
	}
}

func TestWhatIsSentToAClosedConnectionIsDroppedAndThenReset(t *testing.T) {
	_, s := outletOf(t)
	if s.conn.Label() != 77 {
		t.Errorf("the label is %d, want 77", s.conn.Label())
	}
	const nearlyAll = wire.ConnWindow - 3*wire.Overhead - wire.MaxPayload
	backendtest.Must(t, errors.Join(s.carry(wire.MaxPayload, false), s.carry(nearlyAll, false)))
	if _, err := io.ReadFull(s.conn, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	backendtest.Must(t, s.conn.Close())
	came := s.awaits(t, wire.Carry, wire.Allow) // so that a program learns of it that had used up its window
	if f := came[wire.Carry]; !f.Last || len(f.Payload) > 0 {
		t.Errorf("the end is said as %+v", f)
	}
	backendtest.Must(t, errors.Join(s.carry(wire.MaxPayload, false), s.carry(1, false)))
	s.awaits(t, wire.Cut)
}

func TestAResetEndsBothSidesWithItsReason(t *testing.T) {
	_, s := outletOf(t)
	read := make(chan error, 1)
	go func() {
		_, err := s.conn.Read(make([]byte, 1))
		read <- err
	}()
	s.conn.Reset("the policies have changed")
	if f := s.awaits(t, wire.Cut)[wire.Cut]; string(f.Payload) != "the policies have changed" {
		t.Errorf("the runner is told %q", f.Payload)
	}
	if err := <-read; err == nil || !strings.Contains(err.Error(), "the policies have changed") {
		t.Errorf("who reads is told %v", err)
	}
	if _, err := s.conn.Write([]byte("x")); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("who writes is told %v", err)
	}
}

func TestConnectionsEndWithTheirSandbox(t *testing.T) {
	client, s := outletOf(t)
	client.Close()
	if _, err := io.ReadAll(s.conn); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("who reads is told %v", err)
	}
	if _, err := s.conn.Write([]byte("x")); err == nil {
		t.Error("a connection of a sandbox that is gone can be written to")
	}
}

// FuzzConnections has a client hear all that a runner may say of connections.
func FuzzConnections(f *testing.F) {
	f.Add([]byte{byte(wire.Carry), 1, 0, 4, byte(wire.Cut), 1, 1, 0})
	f.Add([]byte{byte(wire.Opened), 2, 1, 1, byte(wire.Allow), 0, 1, 1, byte(wire.Carry), 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		here, there := net.Pipe()
		far, idle := net.Pipe()
		one, other := runner.Joined(here, far)
		go func() { _, _ = io.Copy(io.Discard, there) }()
		go func() {
			defer there.Close()
			out := wire.NewWriter(there)
			for ; len(b) >= 4; b = b[4:] {
				payload := b[4:min(len(b), 4+int(b[3]))]
				if out.Send(wire.Frame{Kind: wire.Kind(b[0]), Stream: uint32(b[1]), Last: b[2] == 1, Payload: payload}) != nil {
					return
				}
			}
		}()
		if _, err := io.ReadAll(one); err == nil {
			_ = one.CloseWrite()
		}
		one.Close()
		other.Close()
		idle.Close()
	})
}

// anotherNetwork is an error on a machine that has its loopback alone.
func anotherNetwork() error {
	all, err := net.InterfaceAddrs()
	if err == nil && !slices.ContainsFunc(all, func(a net.Addr) bool {
		ip, ok := a.(*net.IPNet)
		return ok && !ip.IP.IsLoopback()
	}) {
		err = fmt.Errorf("this machine has the addresses %v alone", all)
	}
	return err
}

func TestWhereThereIsAnotherNetworkNoOutletIsOpened(t *testing.T) {
	backendtest.Needs(t, "A NETWORK", anotherNetwork())
	from, to := resident(t)
	client, err := runner.Attach(t.Context(), own(t, from, to), runner.Place{Workspace: "/", Outlet: true})
	backendtest.Must(t, err)
	defer client.Close()
	_, err = client.OpenOutlet(t.Context(), backends.OutletTerms{MostConnections: 1}, func(c backends.OutletConn) { c.Close() })
	if err == nil || !strings.Contains(err.Error(), "besides its loopback") {
		t.Errorf("error is %v, want one that speaks of another network", err)
	}
}
