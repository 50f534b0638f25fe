package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/record/report"
)

// way lets everybody answer but bob.
type way struct {
	quorum  int
	timeout time.Duration
	proof   string
}

func (w *way) Plan(bailiff.Claim) (api.Plan, error) {
	return api.Plan{Route: "all", Approvers: []string{"ana", "eve"}, Channels: []string{"operator", "console"}, Quorum: w.quorum,
		Timeout: w.timeout, Proof: w.proof}, nil
}

func (w *way) May(who bailiff.Approver, _ bailiff.Claim, _ string) error {
	if !strings.HasPrefix(who.Proof, w.proof) {
		return fmt.Errorf("%w: the route wants a security key", api.ErrProof)
	}
	if who.Person == "bob" {
		return errors.New("bob asked for it; ana or eve can answer")
	}
	return nil
}

// sidecar is a fake with one sandbox.
type sidecar struct {
	mu      sync.Mutex
	status  api.Status
	removed bool
	noImage bool
}

func (s *sidecar) Status(context.Context) api.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

func (s *sidecar) List(context.Context) []api.Sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed {
		return []api.Sandbox{}
	}
	since := time.Now().Add(-17 * time.Minute)
	if s.noImage {
		return []api.Sandbox{{ID: "5be1c0ffee4be1c0ffee", Backend: "bubblewrap", Caller: "hermes", Session: "s1", Since: since,
			LastUsed: since, Expires: since.Add(24 * time.Hour)}}
	}
	return []api.Sandbox{{ID: "4be1c0ffee4be1c0ffee", Backend: "docker", Image: "debian@sha256:5f2c…", Caller: "hermes",
		Session: "agent:main:telegram:dm:42", Users: 1, Since: since, LastUsed: since.Add(10 * time.Minute), Processes: 2,
		Expires: since.Add(24 * time.Hour)}}
}

func (s *sidecar) Remove(context.Context, string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed = true
	return true, nil
}

func (s *sidecar) Reap(context.Context) (int, error) { return 0, nil }

// healthy is the status of a sidecar with which nothing is wrong.
func healthy() api.Status {
	since := time.Now().Add(-3 * time.Hour)
	return api.Status{Version: "1.2.3", Started: since,
		Listeners: []api.ListenerStatus{{Name: "hermes", Listen: "unix:///run/bailiff/agent.sock",
			Platforms: []string{"telegram", "discord"}}},
		Policies: api.PolicyStatus{Revision: "9b4f0c1d2e3f9b4f0c1d2e3f9b4f0c1d2e3f9b4f0c1d2e3f9b4f0c1d2e3f0000", Loaded: since,
			Files: []string{"decision.rego", "env.rego"}, Reloaded: since, OK: true, Faults: []string{}},
		Backends:  []api.BackendStatus{{Name: "bubblewrap", Isolated: true, Ready: true}, {Name: "docker", Isolated: true, Ready: true}},
		Platforms: []api.PlatformStatus{{Platform: "telegram", Backend: "docker", Isolated: true, Image: "debian:12"}},
		Chat:      []api.ServiceStatus{{Service: "telegram", Approvals: true, At: "-1001", Commands: true}},
	}
}

// office is a console in front of a real book and a real decision log.
type office struct {
	*Console
	*sidecar
	way  *way
	line line
	book *approval.Book
	log  *audit.Log
	past gateway.Sessions
	// reports are of log.
	reports gateway.Reporter
	undo    gateway.Undoer // nil where nothing can be undone
	permit  func(who bailiff.Approver, to string) error
	served  chan error
}

// openOffice opens one; it is served by serve.
func openOffice(t testing.TB, change ...func(*Config)) *office {
	t.Helper()
	folder := t.TempDir()
	o := &office{way: &way{quorum: 1, timeout: time.Hour}, sidecar: &sidecar{status: healthy()},
		permit: func(bailiff.Approver, string) error { return nil }}
	var err error
	if o.log, err = audit.Open(audit.Config{StateDir: folder}); err != nil {
		t.Fatal(err)
	}
	o.past, o.reports = pasts{"build/tool"}, report.NewKeeper(folder)
	if o.book, err = approval.Open(approval.Config{Path: filepath.Join(folder, "approvals.db"), Router: o.way,
		Recorder: o.log}); err != nil {
		t.Fatal(err)
	}
	c := Config{Address: "127.0.0.1:0", Operator: o.operator, Known: anyone}
	for _, f := range change {
		f(&c)
	}
	if o.Console, err = Open(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.close(t) })
	return o
}

func (o *office) close(t testing.TB) {
	err := o.Shutdown(context.Background())
	if o.served != nil {
		err = errors.Join(err, <-o.served)
	}
	if err = errors.Join(err, o.book.Close(), o.log.Close()); err != nil {
		t.Error(err)
	}
}

// operator is the operator API in the name of who, at the end of a line that can
// be cut.
func (o *office) operator(who bailiff.Approver) (http.Handler, error) {
	api, err := gateway.NewOperator(gateway.OperatorConfig{Statuser: o, Sandboxes: o, Approvals: o.book, Grants: o.book, Freezer: o.book,
		Projects: struct{ gateway.Adopter }{}, Sessions: o.past, Reports: o.reports, Decisions: o.log,
		History: struct{ gateway.PolicyHistory }{},
		Who:     func(*http.Request) (bailiff.Approver, bool) { return who, true },
		Permit:  o.permit, Undo: o.undo})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.line.serve(w, r, api) }), err
}

// line is what connects browsers.
type line struct {
	mu  sync.Mutex
	out chan struct{} // closed while it is cut
	// date is what answers say that the time is; zero is the time that it is.
	date time.Time
}

// dates has all answers come from a time. A page goes by the clock that they show it.
func (l *line) dates(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.date = at
}

func (l *line) writeDate(h http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.date.IsZero() {
		h.Set("Date", l.date.UTC().Format(http.TimeFormat))
	}
}

func (l *line) state() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		l.out = make(chan struct{})
	}
	return l.out
}

func (l *line) cut() { close(l.state()) }

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = nil
}

// serve serves until the line is cut, and then hangs up.
func (l *line) serve(w http.ResponseWriter, r *http.Request, api http.Handler) {
	out := l.state()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-out:
			cancel()
		case <-ctx.Done():
		}
	}()
	select {
	case <-out:
	default:
		l.writeDate(w.Header())
		api.ServeHTTP(w, r.WithContext(ctx))
	}
	select {
	case <-out:
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	default:
	}
}

// pasts remember the same of every session: it did something with each of the texts.
type pasts []string

func (pasts) List(int) ([]api.Session, error) { return nil, nil }

func (p pasts) Show(id string) ([]api.SessionPast, error) {
	at := time.Now().Add(-time.Hour)
	facts := &bailiff.SessionFacts{Hosts: p, CredentialsRead: p, Forwarded: p, Agents: p, Findings: map[string]int{p[0]: 2},
		Reached: map[string]int64{p[0]: 10}, ApprovedBy: map[string]int{p[0]: 1}}
	for _, text := range p {
		facts.Files = append(facts.Files, bailiff.FileFact{Path: text, How: bailiff.Downloaded, At: at})
	}
	return []api.SessionPast{{Session: api.Session{ID: id, Caller: p[0], LastUsed: at},
		History: &bailiff.SessionHistory{SessionFacts: facts, Complete: true, RunSeconds: 7,
			Requests: bailiff.WindowCount{Hour: 2, Day: 3}}}}, nil
}

// showsReport opens the report, and awaits it.
func (b *tab) showsReport() {
	b.t.Helper()
	b.click("#tab-report")
	b.awaitText("#report-about", "Made")
}

// showsSession opens the session of the first row of the activity, and awaits it.
func (b *tab) showsSession() {
	b.t.Helper()
	b.click("#tab-activity")
	b.click(`#activity [data-act^="session-"]`)
	b.await(`document.querySelector('#session').open`)
}

// serve opens an office and serves it.
func serve(t testing.TB, change ...func(*Config)) *office {
	t.Helper()
	o := openOffice(t, change...)
	o.served = make(chan error, 1)
	go func() { o.served <- o.Serve() }()
	return o
}

// base is the console's address, as browsers write it.
func (o *office) base() string { return "http://" + o.host }

// person is somebody who asks for a link on the operators' socket.
func person(name string) bailiff.Approver {
	return bailiff.Approver{Person: name, Groups: []string{"security"}, Credential: "uid:1000", Channel: "operator"}
}

// ask asks people about a claim, and returns the approval's id.
func (o *office) ask(t testing.TB, c bailiff.Claim) string {
	t.Helper()
	event := api.Event{DecisionID: c.DecisionID, Path: api.DecisionPath, Timestamp: time.Now().UTC(), Input: c.Input, Result: c.Decision,
		RequestedBy: c.Request.Caller,
		Custom:      api.Custom{Event: api.DecisionEvent, Session: c.Request.Session.ID}}
	if err := o.log.Record(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	a, err := o.book.Ask(t.Context(), c)
	if err != nil || a.State != bailiff.ApprovalPending {
		t.Fatalf("asked: %+v, %v", a, err)
	}
	return a.ID
}

func (o *office) entry(t testing.TB, id string) api.Entry {
	t.Helper()
	e, found := o.book.Get(id)
	if !found {
		t.Fatalf("there is no approval %s", id)
	}
	return e
}

// document is an input document.
type document string

func (d document) MarshalJSON() ([]byte, error) { return []byte(d), nil }

// claim is a command that needs a person, changed as a test wants.
func claim(command string, change ...func(*bailiff.Claim)) bailiff.Claim {
	c := bailiff.Claim{
		Request: bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command, Workdir: "/workspace"}, Caller: "hermes",
			Peer: "uid:1001",
			Session: bailiff.Session{ID: "agent:main:telegram:dm:42", Platform: "telegram", ChatType: "dm", ChatID: "42", UserID: "42",
				UserName: "Kim"},
			Env: []string{"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"}},
		Decision: bailiff.Decision{Outcome: bailiff.Ask, Revision: "9b4f0c1d2e3f9b4f0c1d2e3f9b4f0c1d2e3f9b4f0c1d2e3f9b4f0c1d2e3f0000",
			Approval: &bailiff.ApprovalTerms{Scopes: []string{bailiff.ScopeOnce, bailiff.ScopeSession, bailiff.ScopeAlways},
				TimeoutSeconds: 300, GrantSeconds: 3600, Quorum: 1,
				Reasons: []bailiff.Reason{{Rule: "command.deletes_recursively", Message: "This deletes a folder with all that is in it.",
					Match: "./build", Instead: "Delete the files by their names."}}},
			Obligations: bailiff.Obligations{
				Backend: bailiff.BackendTerms{Name: "docker", Image: "debian@sha256:5f2c1b8a90d74c3e", Scope: "session", Network: "egress",
					Egress: []string{"github.com:443"},
					CPUs:   1, MemoryMB: 5120, PIDs: 256, ReadOnly: true,
					Mounts: []bailiff.Mount{{Source: "/srv/cache", Target: "/cache", ReadOnly: true}}},
				Env: bailiff.EnvTerms{Forward: []string{"GITHUB_TOKEN"},
					Withheld: []bailiff.Withheld{{Name: "AWS_SECRET_ACCESS_KEY", Rule: "env.cloud_keys"}}},
				Limits: bailiff.Limits{TimeoutSeconds: 180, OutputBytes: 50000}}},
		DecisionID: "d-" + command[:min(len(command), 20)],
		Files:      []bailiff.File{{Path: "/workspace/deploy.sh", SHA256: strings.Repeat("9f86d081884c7d65", 4)}},
	}
	for _, f := range change {
		f(&c)
	}
	c.Input = document(fmt.Sprintf(`{"tool": %q, "args": {"command": %s}, "session": {"id": %q, "platform": %q, "user_id": %q}}`,
		c.Request.Tool, quoted(c.Request.Args.Command), c.Request.Session.ID, c.Request.Session.Platform, c.Request.Session.UserID))
	return c
}

func reasons(list ...bailiff.Reason) func(*bailiff.Claim) {
	return func(c *bailiff.Claim) { c.Decision.Approval.Reasons = list }
}

func scopes(list ...string) func(*bailiff.Claim) {
	return func(c *bailiff.Claim) { c.Decision.Approval.Scopes = list }
}

func inSession(id string) func(*bailiff.Claim) {
	return func(c *bailiff.Claim) { c.Request.Session.ID = id }
}

// anyone may be logged in.
func anyone(bailiff.Approver) error { return nil }
