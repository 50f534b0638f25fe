package peers

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/fleet"
	"github.com/bailiff-dev/bailiff/internal/fleet/peers/peerstest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// member is a sidecar of a test.
type member struct {
	*Router
	enforcer *fakeEnforcer
	homes    *fakeHomes
	server   *Server
}

func newMember(t *testing.T, a *peerstest.Authority, name string) *member {
	t.Helper()
	m := &member{enforcer: &fakeEnforcer{}, homes: &fakeHomes{home: fleet.Home{Replica: name, Mine: true}}}
	certificate, key := a.Issue(t, name)
	var err error
	m.Router, err = New(Config{Local: m.enforcer, Homes: m.homes, TLS: TLS{certificate, key, a.Path}, Observer: m.homes})
	backendtest.Must(t, err)
	m.server, err = Listen("127.0.0.1:0", m.Router, slog.New(slog.DiscardHandler))
	backendtest.Must(t, err)
	go func() { _ = m.server.Serve() }()
	t.Cleanup(func() {
		m.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = m.server.Shutdown(ctx)
	})
	return m
}

// sends has a member send what comes to it to another one.
func (m *member) sends(to *member) {
	m.homes.set(fleet.Home{Replica: "other", Address: to.server.Address()})
}

type fakeHomes struct {
	mu       sync.Mutex
	home     fleet.Home
	outcomes []string
	forgot   int
}

func (h *fakeHomes) set(home fleet.Home) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.home = home
}

func (h *fakeHomes) Of(context.Context, fleet.Session) (fleet.Home, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.home, nil
}

func (h *fakeHomes) Home(ctx context.Context, s fleet.Session) (fleet.Home, error) {
	return h.Of(ctx, s)
}

func (h *fakeHomes) Forget(fleet.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forgot++
}

func (h *fakeHomes) Leave(context.Context, fleet.Session) error      { return nil }
func (h *fakeHomes) Members(context.Context) ([]fleet.Member, error) { return nil, nil }

func (h *fakeHomes) ToPeer(outcome string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outcomes = append(h.outcomes, outcome)
}

// fakeEnforcer answers with what it was sent.
type fakeEnforcer struct {
	Local
	mu   sync.Mutex
	got  []bailiff.Request
	does func(ctx context.Context, news func(bailiff.Progress)) bailiff.Answer
}

func (e *fakeEnforcer) Execute(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
	e.mu.Lock()
	e.got = append(e.got, req)
	e.mu.Unlock()
	if e.does != nil {
		return e.does(ctx, news)
	}
	return bailiff.Answer{RequestID: req.ID, Status: bailiff.Completed, Output: []byte("ran\xff")}
}

func (e *fakeEnforcer) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.got)
}

var asked = bailiff.Request{ID: "r1", Tool: bailiff.Terminal, Args: bailiff.Args{Command: "true"}, Caller: "door", Peer: "uid:7",
	Session: bailiff.Session{ID: "s1", Platform: "telegram", UserID: "42"}}

func TestARequestComesToItsHomeAsItsDoorVerifiedIt(t *testing.T) {
	a := peerstest.New(t)
	door, home := newMember(t, a, "door"), newMember(t, a, "home")
	door.sends(home)
	home.enforcer.does = func(_ context.Context, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{Decision: &bailiff.Decided{ID: "d1", Decision: bailiff.Decision{Outcome: bailiff.Allow}}})
		news(bailiff.Progress{Output: []byte("half \xff")})
		return bailiff.Answer{RequestID: "r1", Status: bailiff.Completed, Output: []byte("half \xff"), Duration: time.Second}
	}
	var told []bailiff.Progress
	answer := door.Execute(t.Context(), asked, func(p bailiff.Progress) { told = append(told, p) })
	if answer.Status != bailiff.Completed || string(answer.Output) != "half \xff" || answer.Duration != time.Second {
		t.Errorf("answered %+v", answer)
	}
	if len(told) != 2 || told[0].Decision == nil || told[0].Decision.Decision.Outcome != bailiff.Allow ||
		string(told[1].Output) != "half \xff" {
		t.Errorf("told %+v", told)
	}
	if got := home.enforcer.got[0]; got.Digest() != asked.Digest() || got.Caller != "door" || got.Peer != "uid:7" || got.ID != "r1" {
		t.Errorf("its home was sent %+v", got)
	}
	if door.enforcer.count() != 0 {
		t.Error("it ran at its door too")
	}
}

func TestAFrozenSessionIsDeniedAtItsDoor(t *testing.T) {
	a := peerstest.New(t)
	door, home := newMember(t, a, "door"), newMember(t, a, "home")
	door.sends(home)
	frozen := false
	door.config.Frozen = func(s bailiff.Session) bool { return frozen && s.ID == asked.Session.ID }
	for _, frozen = range []bool{true, false} {
		door.Execute(t.Context(), asked, nil)
	}
	if at, there := door.enforcer.count(), home.enforcer.count(); at != 1 || there != 1 {
		t.Errorf("%d came to the enforcer of the door and %d to that of the home, want 1 while it was frozen and 1 later", at, there)
	}
}

func TestASessionThatMovedIsFollowed(t *testing.T) {
	a := peerstest.New(t)
	door, former, next := newMember(t, a, "door"), newMember(t, a, "former"), newMember(t, a, "next")
	door.sends(former)
	former.sends(next)
	go func() {
		for door.homes.lost() == 0 {
			time.Sleep(time.Millisecond)
		}
		door.sends(next)
	}()
	if answer := door.Execute(t.Context(), asked, nil); answer.Status != bailiff.Completed || former.enforcer.count() != 0 ||
		next.enforcer.count() != 1 {
		t.Errorf("answered %+v; it ran %d times at the former home, %d times at the next", answer, former.enforcer.count(),
			next.enforcer.count())
	}
}

// lost is how often a home proved wrong.
func (h *fakeHomes) lost() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.forgot
}

func TestARequestWhoseConnectionIsLostIsNotSentAgain(t *testing.T) {
	a := peerstest.New(t)
	door, home := newMember(t, a, "door"), newMember(t, a, "home")
	door.sends(home)
	home.enforcer.does = func(ctx context.Context, _ func(bailiff.Progress)) bailiff.Answer {
		_ = home.server.http.Close()
		<-ctx.Done()
		return bailiff.Answer{Status: bailiff.Completed}
	}
	if answer := door.Execute(t.Context(), asked, nil); answer.Code != bailiff.CodeOutcomeUnknown || answer.Status != bailiff.Failed ||
		home.enforcer.count() != 1 {
		t.Errorf("answered %+v, ran %d times", answer, home.enforcer.count())
	}
}

func TestWhoGoesAwayCancelsTheRequestAtItsHome(t *testing.T) {
	a := peerstest.New(t)
	door, home := newMember(t, a, "door"), newMember(t, a, "home")
	door.sends(home)
	begun, ended := make(chan struct{}), make(chan struct{})
	home.enforcer.does = func(ctx context.Context, _ func(bailiff.Progress)) bailiff.Answer {
		close(begun)
		<-ctx.Done()
		close(ended)
		return bailiff.Answer{Status: bailiff.Interrupted}
	}
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-begun
		leave()
	}()
	door.Execute(ctx, asked, nil)
	awaittest.Value(t, "its end", ended)
}

func TestStrangersAreNotListenedTo(t *testing.T) {
	a := peerstest.New(t)
	home := newMember(t, a, "home")
	certificate, key := peerstest.New(t).Issue(t, "stranger")
	strange, err := tls.LoadX509KeyPair(certificate, key)
	backendtest.Must(t, err)
	for name, config := range map[string]*tls.Config{
		"without a certificate":           {InsecureSkipVerify: true},
		"with another authority's":        {InsecureSkipVerify: true, Certificates: []tls.Certificate{strange}},
		"by a version of TLS that is old": {InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12},
	} {
		t.Run(name, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
			defer client.CloseIdleConnections()
			answer, err := client.Post("https://"+home.server.Address()+path+"execute", "", strings.NewReader("{}"))
			if err == nil {
				_ = answer.Body.Close()
				t.Errorf("it is answered %s", answer.Status)
			}
		})
	}
	door := newMember(t, peerstest.New(t), "door")
	door.sends(home)
	if _, err := door.client.send(t.Context(), home.server.Address(), "execute", requestOf(asked)); !errors.Is(err, errNotTaken) {
		t.Errorf("a home of another authority's: %v", err)
	}
	if home.enforcer.count() != 0 {
		t.Error("something ran")
	}
}

func TestAMessageThatIsNotUnderstoodWholeIsRefused(t *testing.T) {
	a := peerstest.New(t)
	door, home := newMember(t, a, "door"), newMember(t, a, "home")
	_, err := door.client.send(t.Context(), home.server.Address(), "execute", map[string]any{"caller": "x", "later": true})
	if err == nil || !strings.Contains(err.Error(), "later") || home.enforcer.count() != 0 || outcomeOf(err) != "refused" {
		t.Errorf("answered %v", err)
	}
}

func TestAHomeThatIsNotThereHasBegunNothing(t *testing.T) {
	door := newMember(t, peerstest.New(t), "door")
	if _, err := door.client.send(t.Context(), porttest.Address(t), "execute", requestOf(asked)); !errors.Is(err, errNotTaken) {
		t.Errorf("it says %v", err)
	}
}

// A connection over which nothing comes any more, though neither side has closed it, is lost.
func TestAConnectionThatFallsSilentIsLost(t *testing.T) {
	t.Parallel()
	a := peerstest.New(t)
	door, home := newMember(t, a, "door"), newMember(t, a, "home")
	wire := newWire(t, home.server.Address())
	door.homes.set(fleet.Home{Replica: "home", Address: wire.address})
	home.enforcer.does = func(ctx context.Context, _ func(bailiff.Progress)) bailiff.Answer {
		wire.silence()
		<-ctx.Done() // the home hears nothing either
		return bailiff.Answer{Status: bailiff.Interrupted}
	}
	if answer := door.Execute(t.Context(), asked, nil); answer.Code != bailiff.CodeOutcomeUnknown || home.enforcer.count() != 1 {
		t.Errorf("answered %+v, ran %d times", answer, home.enforcer.count())
	}
}

// wire carries connections to a sidecar until it falls silent.
type wire struct {
	address string
	silent  chan struct{}
	once    sync.Once
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	backendtest.Must(t, err)
	w := &wire{address: listener.Addr().String(), silent: make(chan struct{})}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			into, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			t.Cleanup(func() { _, _ = from.Close(), into.Close() })
			go w.carry(from, into)
			go w.carry(into, from)
		}
	}()
	return w
}

func (w *wire) silence() { w.once.Do(func() { close(w.silent) }) }

// carry drops what comes once the wire is silent.
func (w *wire) carry(from, into net.Conn) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		if err != nil {
			return
		}
		select {
		case <-w.silent:
		default:
			_, _ = into.Write(piece[:n])
		}
	}
}
