package enforcer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// judge is a policy decision point that always says the same.
type judge struct{ decision bailiff.Decision }

func (j *judge) Decide(context.Context, bailiff.Request, bailiff.Circumstances) bailiff.Judgement {
	return bailiff.Judgement{Decision: j.decision}
}

// tape is a decision log in memory.
type tape struct {
	mu     sync.Mutex
	events []bailiff.Event
	broken error
}

func (l *tape) Record(_ context.Context, e bailiff.Event) error {
	if l.broken != nil {
		return l.broken
	}
	l.Note(e)
	return nil
}

func (l *tape) Note(e bailiff.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *tape) kinds() []bailiff.EventKind {
	l.mu.Lock()
	defer l.mu.Unlock()
	var kinds []bailiff.EventKind
	for _, e := range l.events {
		kinds = append(kinds, e.Custom.Event)
	}
	return kinds
}

type environ map[string]string

func (e environ) Available(names []string) []string {
	var have []string
	for _, name := range names {
		if _, ok := e[name]; ok {
			have = append(have, name)
		}
	}
	return have
}

func (e environ) Value(name string) (bailiff.Secret, bool) {
	value, ok := e[name]
	return bailiff.NewSecret(value), ok
}

type blind struct{}

func (blind) Decided(bailiff.Request, bailiff.Decision, time.Duration)     {}
func (blind) Executed(bailiff.Tool, string, bailiff.Status, time.Duration) {}
func (blind) SandboxStarted(string, error, time.Duration)                  {}
func (blind) SandboxReaped(string, string)                                 {}

// shop makes sandboxes in memory.
type shop struct {
	mu    sync.Mutex
	made  []*room
	fault error
	// run is what a command does in any of its sandboxes.
	run func(ctx context.Context, cmd backends.Command, out func([]byte)) (backends.Exit, error)
}

func (*shop) Isolated() bool              { return true }
func (*shop) Ready(context.Context) error { return nil }

func (s *shop) Open(_ context.Context, spec backends.Spec) (backends.Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		return nil, s.fault
	}
	r := &room{shop: s, spec: spec, id: fmt.Sprintf("room-%d", len(s.made)+1), done: make(chan struct{})}
	s.made = append(s.made, r)
	return r, nil
}

func (s *shop) rooms() []*room {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*room(nil), s.made...)
}

type room struct {
	shop   *shop
	spec   backends.Spec
	id     string
	done   chan struct{}
	once   sync.Once
	mu     sync.Mutex
	left   int
	killed int
	cmds   []backends.Command
	inside int
	most   int // commands at once
}

func (r *room) ID() string            { return r.id }
func (r *room) Done() <-chan struct{} { return r.done }

func (r *room) Run(ctx context.Context, cmd backends.Command, out func([]byte)) (backends.Exit, error) {
	r.mu.Lock()
	r.cmds = append(r.cmds, cmd)
	r.inside++
	r.most = max(r.most, r.inside)
	r.mu.Unlock()
	defer func() { r.mu.Lock(); r.inside--; r.mu.Unlock() }()
	if r.shop.run == nil {
		return backends.Exit{}, nil
	}
	return r.shop.run(ctx, cmd, out)
}

func (r *room) Alive(context.Context) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left, nil
}

func (r *room) Kill(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed, r.left = r.left, 0
	return nil
}

func (r *room) Close(context.Context) error {
	r.once.Do(func() { close(r.done) })
	return nil
}

// bench is an enforcer with everything around it.
type bench struct {
	*Enforcer
	judge *judge
	tape  *tape
	shop  *shop
	env   environ
}

func newBench(t *testing.T, changes ...func(*bench)) *bench {
	t.Helper()
	b := &bench{judge: &judge{allow()}, tape: &tape{}, shop: &shop{}, env: environ{}}
	for _, change := range changes {
		change(b)
	}
	var err error
	b.Enforcer, err = New(Config{Decider: b.judge, Recorder: b.tape, Environ: b.env, Observer: blind{}, Owner: "test",
		Backends: map[string]backends.Backend{"docker": b.shop, "local": b.shop}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(context.Background()) })
	return b
}

// allow is a decision that lets a request run in a sandbox of its session.
func allow(changes ...func(*bailiff.Decision)) bailiff.Decision {
	d := bailiff.Decision{Outcome: bailiff.Allow, Obligations: bailiff.Obligations{
		Backend: bailiff.BackendTerms{Name: "docker", Scope: "session", Network: "none", IdleSeconds: 3600},
		Limits:  bailiff.Limits{TimeoutSeconds: 60, OutputBytes: 1000},
	}}
	for _, change := range changes {
		change(&d)
	}
	return d
}

func forward(names ...string) func(*bailiff.Decision) {
	return func(d *bailiff.Decision) { d.Env.Forward = names }
}

func request(command string) bailiff.Request {
	return bailiff.Request{Tool: bailiff.Terminal, Caller: "hermes", Args: bailiff.Args{Command: command},
		Session: bailiff.Session{ID: "s1", Platform: "telegram", UserID: "42"}}
}

func prints(text string) func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
	return func(_ context.Context, _ backends.Command, out func([]byte)) (backends.Exit, error) {
		out([]byte(text))
		return backends.Exit{}, nil
	}
}

var errBoom = errors.New("boom")
