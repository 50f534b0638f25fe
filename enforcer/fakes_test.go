package enforcer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/answers"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
)

// judge is a policy decision point that always says the same, and that a text
// runs the same files.
type judge struct {
	mu       sync.Mutex
	decision bailiff.Decision
	inFolder map[string]bailiff.Decision // in place of decision
	after    map[string]bailiff.Decision // in place of decision, where such a script ran before in its interpreter
	files    []string
	plain    bool
	saw      []bailiff.File // those of the last judgement
	judged   []bailiff.Request
}

func (j *judge) Decide(_ context.Context, req bailiff.Request, at bailiff.Circumstances) bailiff.Judgement {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.saw = at.Files
	j.judged = append(j.judged, req)
	decision := j.decision
	if d, ok := j.inFolder[req.Args.Workdir]; ok {
		decision = d
	}
	for _, text := range at.Scripts {
		if d, ok := j.after[text]; ok {
			decision = d
		}
	}
	return bailiff.Judgement{Decision: decision, Files: j.files, Plain: j.plain}
}

func (j *judge) says(d bailiff.Decision) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.decision = d
}

// humans answer by a function, and grant what they approve once.
type humans struct {
	mu     sync.Mutex
	answer func(c bailiff.Claim) bailiff.ApprovalState
	// meanwhile happens between the question and the answer.
	meanwhile func()
	// awaits happens while the answer is waited for, until ctx ends.
	awaits    func(ctx context.Context)
	fault     error
	frozen    bool
	asked     []bailiff.Claim
	grants    map[string]bool // by digest
	voided    []string
	lives     time.Duration // of a question, from when it is asked until it ends
	ends      time.Time
	keepsNone bool      // what is approved is used by another request at once
	until     time.Time // when a yes for the session ends; zero grants once
}

func (h *humans) Covered(c bailiff.Claim) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.grants[c.Digest()]
}

func (h *humans) Redeem(_ context.Context, c bailiff.Claim) (bailiff.Approval, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	granted := h.grants[c.Digest()]
	delete(h.grants, c.Digest())
	a := bailiff.Approval{ID: "a1", State: bailiff.ApprovalApproved, Scope: bailiff.ScopeOnce, By: "ana"}
	if !h.until.IsZero() {
		a.Scope, a.ExpiresAt = bailiff.ScopeSession, h.until
	}
	return a, granted, h.fault
}

func (h *humans) Ask(_ context.Context, c bailiff.Claim) (bailiff.Approval, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, c)
	a := bailiff.Approval{ID: "a1", State: bailiff.ApprovalPending, Message: "Ana can answer."}
	if h.lives > 0 {
		h.ends = time.Now().Add(h.lives)
		a.ExpiresAt = h.ends
	}
	return a, h.fault
}

func (h *humans) Await(ctx context.Context, id string) bailiff.Approval {
	if h.meanwhile != nil {
		h.meanwhile()
	}
	if h.awaits != nil {
		h.awaits(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	a := bailiff.Approval{ID: id, State: bailiff.ApprovalPending, Message: "Ana can answer."}
	if ctx.Err() != nil || h.answer == nil {
		return a
	}
	claim := h.asked[len(h.asked)-1]
	if a.State = h.answer(claim); a.State == bailiff.ApprovalApproved && !h.keepsNone {
		h.grants[claim.Digest()] = true
	}
	a.By, a.Message = "ana", "Ana said so."
	return a
}

func (h *humans) Void(_ context.Context, _, reason string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.voided = append(h.voided, reason)
	return nil
}

func (h *humans) Withdraw(context.Context, string, string) error { return nil }

func (h *humans) Frozen(bailiff.Session) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return "Ana froze everything.", h.frozen
}

func always(state bailiff.ApprovalState) func(bailiff.Claim) bailiff.ApprovalState {
	return func(bailiff.Claim) bailiff.ApprovalState { return state }
}

// tape is a decision log in memory.
type tape struct {
	mu     sync.Mutex
	events []api.Event
	broken error
	// noted is sent to as an event is noted, if it has room.
	noted chan struct{}
}

func (l *tape) Record(_ context.Context, e api.Event) error {
	if l.broken != nil {
		return l.broken
	}
	l.Note(e)
	return nil
}

func (l *tape) Err() error { return l.broken }

func (l *tape) Note(e api.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	select {
	case l.noted <- struct{}{}:
	default:
	}
}

func (l *tape) all() []api.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]api.Event{}, l.events...)
}

func (l *tape) kinds() []api.EventKind {
	l.mu.Lock()
	defer l.mu.Unlock()
	var kinds []api.EventKind
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

func (blind) Decided(context.Context, bailiff.Request, bailiff.Decision, time.Duration)     {}
func (blind) Unrecorded(context.Context, bailiff.Request, bailiff.Decision, time.Duration)  {}
func (blind) Forwarded([]string)                                                            {}
func (blind) Executed(context.Context, bailiff.Tool, string, bailiff.Status, time.Duration) {}
func (blind) SandboxStarted(context.Context, string, error, time.Duration)                  {}
func (blind) SandboxAdopted(string)                                                         {}
func (blind) SandboxHandedOver(string)                                                      {}
func (blind) BackendReady(string, bool)                                                     {}
func (blind) SweepFailed(string)                                                            {}
func (blind) PutBack(int)                                                                   {}
func (blind) BreakGlassUsed()                                                               {}
func (blind) SandboxReaped(string, string)                                                  {}

// fakeBackend makes sandboxes in memory.
type fakeBackend struct {
	// start is where commands begin that name no folder.
	start string
	mu    sync.Mutex
	made  []*fakeSandbox
	fault error
	// run is what a command does in any of its sandboxes.
	run func(ctx context.Context, cmd backends.Command, out func([]byte)) (backends.Exit, error)
	// script is what a script does in any of its interpreters; it returns its exit status.
	script  func(p *python) int
	scripts atomic.Int32 // that were started
	// talks is what becomes of an interpreter as it is started.
	talks func(*talk) error
	// opening happens as a sandbox is made; an error is that of the opening.
	opening func() error
	// closing happens while a sandbox is closed; unclosed is the error of it.
	closing  func()
	unclosed error
	// files are the digests of files, the same in each sandbox.
	files map[string]string
	// full has no room for a background command; starting happens while one is started.
	full     bool
	starting func()
	// resolve tells what paths lead to; with it nothing is isolated.
	resolve func(ctx context.Context, paths []string) (bailiff.Ground, error)
}

func (s *fakeBackend) read(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[path]
}

func (s *fakeBackend) write(path, digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[path] = digest
}

// commands counts those that were started in any sandbox.
func (s *fakeBackend) commands() (n int) {
	for _, r := range s.sandboxes() {
		r.mu.Lock()
		n += len(r.cmds)
		r.mu.Unlock()
	}
	return n
}

func (s *fakeBackend) Isolated() bool            { return s.resolve == nil }
func (s *fakeBackend) Start() string             { return s.start }
func (*fakeBackend) Ready(context.Context) error { return nil }

func (s *fakeBackend) Open(_ context.Context, spec backends.Spec) (backends.Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		return nil, s.fault
	}
	if s.opening != nil {
		if err := s.opening(); err != nil {
			return nil, err
		}
	}
	r := &fakeSandbox{fakeBackend: s, spec: spec, id: fmt.Sprintf("sandbox-%d", len(s.made)+1), done: make(chan struct{})}
	s.made = append(s.made, r)
	return r, nil
}

func (s *fakeBackend) sandboxes() []*fakeSandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*fakeSandbox(nil), s.made...)
}

type fakeSandbox struct {
	fakeBackend *fakeBackend
	spec        backends.Spec
	id          string
	done        chan struct{}
	once        sync.Once
	mu          sync.Mutex
	left        int
	dies        bool // as soon as it is looked at
	killed      int
	cmds        []backends.Command
	jobs        []*job
	talks       []*talk
	inside      int
	most        int // commands at once
}

var _ backends.Reader = (*fakeSandbox)(nil)

func (*fakeSandbox) Read(_ context.Context, _, path string, _ int) (bailiff.Content, error) {
	return bailiff.Content{File: bailiff.File{Path: path}, Kind: bailiff.ContentMissing}, nil
}

func (*fakeSandbox) Match(context.Context, string, string, []string) ([]string, bool, error) {
	return nil, true, nil
}

func (r *fakeSandbox) Resolve(ctx context.Context, _ string, paths []string) (bailiff.Ground, error) {
	return r.fakeBackend.resolve(ctx, paths)
}

func (r *fakeSandbox) ID() string            { return r.id }
func (r *fakeSandbox) Done() <-chan struct{} { return r.done }

func (r *fakeSandbox) Run(ctx context.Context, cmd backends.Command, out func([]byte)) (backends.Exit, error) {
	r.mu.Lock()
	r.cmds = append(r.cmds, cmd)
	r.inside++
	r.most = max(r.most, r.inside)
	r.mu.Unlock()
	defer func() { r.mu.Lock(); r.inside--; r.mu.Unlock() }()
	if r.fakeBackend.run == nil {
		return backends.Exit{}, nil
	}
	return r.fakeBackend.run(ctx, cmd, out)
}

func (r *fakeSandbox) Digest(_ context.Context, _ string, paths []string) ([]bailiff.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	files := make([]bailiff.File, len(paths))
	for i, path := range paths {
		files[i] = bailiff.File{Path: path, SHA256: r.fakeBackend.read(path)}
	}
	return files, nil
}

func (r *fakeSandbox) Alive(context.Context) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dies {
		r.once.Do(func() { close(r.done) })
		return 0, errBoom
	}
	return r.left, nil
}

func (r *fakeSandbox) Kill(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed, r.left = r.left, 0
	return nil
}

func (r *fakeSandbox) Close(context.Context) error {
	if r.fakeBackend.closing != nil {
		r.fakeBackend.closing()
	}
	r.once.Do(func() { close(r.done) })
	for _, j := range r.living() {
		j.ends(backends.Exit{Lost: true})
	}
	for _, t := range r.interpreters() {
		t.ends(backends.Exit{Lost: true})
	}
	return r.fakeBackend.unclosed
}

// bench is an enforcer with everything around it.
type bench struct {
	*Enforcer
	judge       *judge
	tape        *tape
	fakeBackend *fakeBackend
	env         environ
	human       *humans
	let         *entriesInMemory[ledger.Sandbox]
	kept        *entriesInMemory[ledger.Workspace]
	projects    *entriesInMemory[ledger.Project]
	shown       lease.BackendObserver
	made        lease.Observer
	homes       lease.Homes
	claims      answers.Claims
	checkOwner  func() error
	wayOut      WayOut
	log         *slog.Logger
}

// The figures of the packages that hold sandboxes and processes.
const (
	adoptsTimeout = 30 * time.Second
	firstPause    = time.Second
	maxKernels    = 4
	maxRemoving   = 4
	maxSamples    = 8
	maxSessions   = 1000
	sweepTimeout  = time.Minute
	lastSweep     = 10 * time.Second
	mostEnded     = 32
	pinTime       = time.Minute
	probeEvery    = 30 * time.Second
	readyEach     = 2
	samplePause   = 5 * time.Minute
	targetFor     = 15 * time.Minute
	tripAfter     = 3
)

// kept is how many entries there are at a path of fields and keys.
func kept(of any, path ...string) int {
	at := reflect.ValueOf(of)
	for _, name := range path {
		if at = reflect.Indirect(at); at.Kind() == reflect.Map {
			at = at.MapIndex(reflect.ValueOf(name))
			continue
		}
		at = at.FieldByName(name)
	}
	return at.Len()
}

// sweeper hands on which sandboxes a sweep spares.
type sweeper struct {
	*fakeBackend
	holds func(id string) bool
}

func (s *sweeper) Sweep(_ context.Context, _ string, holds func(id string) bool) (int, error) {
	s.holds = holds
	return 0, nil
}

// spares says whether a sweep would spare a sandbox.
func spares(t *testing.T, b *bench, id string) bool {
	t.Helper()
	before, s := b.config.Backends["podman"], &sweeper{fakeBackend: b.fakeBackend}
	b.config.Backends["podman"] = s
	defer func() { b.config.Backends["podman"] = before }()
	if _, err := b.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	return s.holds(id)
}

// alike says whether two specs are for sandboxes of one kind.
func alike(a, b backends.Spec) bool {
	a.Expires, a.Session, a.Workspace = b.Expires, b.Session, b.Workspace
	return reflect.DeepEqual(a, b)
}

func newBench(t testing.TB, changes ...func(*bench)) *bench {
	t.Helper()
	b := &bench{shown: blind{}, made: blind{}, judge: &judge{decision: allow()}, tape: &tape{}, fakeBackend: &fakeBackend{}, env: environ{},
		human:    &humans{grants: map[string]bool{}},
		let:      &entriesInMemory[ledger.Sandbox]{all: map[string]ledger.Sandbox{}},
		kept:     &entriesInMemory[ledger.Workspace]{all: map[string]ledger.Workspace{}},
		projects: &entriesInMemory[ledger.Project]{all: map[string]ledger.Project{}}}
	for _, change := range changes {
		change(b)
	}
	var err error
	b.Enforcer, err = New(Config{Decider: b.judge, Recorder: b.tape, Environ: b.env, Observer: blind{}, Sandboxes: b.made,
		Readiness: b.shown, Log: b.log, Approvals: b.human, Freezer: b.human, Ledger: b.let, Workspaces: b.kept, Projects: b.projects,
		Owner: "test", Homes: b.homes, Claims: b.claims, CheckOwner: b.checkOwner, WayOut: b.wayOut,
		Backends: map[string]backends.Backend{"docker": b.fakeBackend, "bubblewrap": b.fakeBackend, "podman": b.fakeBackend,
			"local": b.fakeBackend}})
	must(t, err)
	t.Cleanup(func() { b.Close(context.Background()) })
	b.Probe(t.Context())
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

// entered are the variables of a command beside the constants of each that has no network.
func entered(cmd backends.Command) map[string]bailiff.Secret {
	env := maps.Clone(cmd.Env)
	for name, value := range offlineVariables() {
		if env[name].Reveal() == value.Reveal() {
			delete(env, name)
		}
	}
	return env
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

// ruling is a judge who looks at the request.
type ruling func(bailiff.Request) bailiff.Decision

func (r ruling) Decide(_ context.Context, req bailiff.Request, _ bailiff.Circumstances) bailiff.Judgement {
	return bailiff.Judgement{Decision: r(req)}
}

// wishes is a judge who lets each request run where it wants to.
type wishes struct{ *judge }

func (w wishes) Decide(ctx context.Context, req bailiff.Request, at bailiff.Circumstances) bailiff.Judgement {
	j := w.judge.Decide(ctx, req, at)
	if req.Backend != "" {
		j.Decision.Backend.Name = req.Backend
	}
	return j
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
