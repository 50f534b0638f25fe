package approval

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// roster is a router to which everybody in it may answer.
type roster struct {
	people  []string
	quorum  int
	timeout time.Duration
	route   string
	proof   string
}

func (r roster) Plan(bailiff.Claim) (api.Plan, error) {
	if len(r.people) == 0 {
		return api.Plan{}, &Unanswerable{Reason: "nobody is configured to answer"}
	}
	return api.Plan{Route: r.route, Approvers: r.people, Channels: []string{"operator"}, Quorum: r.quorum, Timeout: r.timeout,
		Proof: r.proof}, nil
}

func (r roster) May(who bailiff.Approver, c bailiff.Claim, route string) error {
	if !slices.Contains(r.people, who.Person) {
		return fmt.Errorf("%s may not answer route %s; %s could", who.Person, route, strings.Join(r.people, " and "))
	}
	if !strings.HasPrefix(who.Proof, r.proof) {
		return fmt.Errorf("%w: route %s wants it", api.ErrProof, route)
	}
	return nil
}

// journal is a decision log in memory.
type journal struct {
	mu     sync.Mutex
	events []api.Event
	broken bool
}

func (j *journal) Record(_ context.Context, e api.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken {
		return errors.New("the disk is full")
	}
	j.events = append(j.events, e)
	return nil
}

func (j *journal) setBroken(broken bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = broken
}

// steps are the first words of the messages.
func (j *journal) steps() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var steps []string
	for _, e := range j.events {
		step, _, _ := strings.Cut(e.Custom.Message, ":")
		steps = append(steps, step)
	}
	return steps
}

// fixture is a book of which a test may change everything but the folder.
type fixture struct {
	*Book
	t       *testing.T
	config  Config
	journal *journal
}

func configIn(dir string) Config {
	return Config{
		Path:     filepath.Join(dir, "approvals.db"),
		Router:   roster{people: []string{"ana", "ben", "cleo"}, quorum: 1, timeout: time.Minute, route: "security"},
		Recorder: &journal{},
	}
}

func open(t *testing.T, change ...func(*Config)) *fixture {
	t.Helper()
	c := configIn(t.TempDir())
	c.onPostgreSQL(t)
	for _, f := range change {
		f(&c)
	}
	f := &fixture{t: t, config: c, journal: c.Recorder.(*journal)}
	f.start()
	t.Cleanup(func() { f.Book.Close() })
	return f
}

func quorum(n int) func(*Config) {
	return func(c *Config) {
		r := c.Router.(roster)
		r.quorum = n
		c.Router = r
	}
}

func (f *fixture) start() {
	f.t.Helper()
	var err error
	if f.Book, err = Open(f.config); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) restart() {
	f.t.Helper()
	if err := f.Book.Close(); err != nil {
		f.t.Fatal(err)
	}
	f.start()
}

// How long the file store leaves a store that failed alone, keeps events that the log has, and may overlook a deadline.
const (
	mendTime   = time.Second
	forgetTime = time.Second
	sweepTime  = time.Minute
)

// change gives the book another router.
func (f *fixture) change(change func(*roster)) {
	r := f.config.Router.(roster)
	change(&r)
	f.Book.config.Router = r
}

// steps are the first words of what the log says of an approval, once it says
// how that ended.
func (f *fixture) steps(id string) []string {
	f.t.Helper()
	var steps []string
	awaittest.Until(f.t, "the decision log", func() bool {
		f.journal.mu.Lock()
		defer f.journal.mu.Unlock()
		steps = nil
		for _, e := range f.journal.events {
			if approvalID(e) == id {
				step, _, _ := strings.Cut(e.Custom.Message, ":")
				steps = append(steps, step)
			}
		}
		return slices.Contains(steps, "redeemed")
	})
	return steps
}

func (f *fixture) ask(c bailiff.Claim) string {
	f.t.Helper()
	a, err := f.Ask(f.t.Context(), c)
	if err != nil || a.State != bailiff.ApprovalPending {
		f.t.Fatalf("asked: %+v, %v", a, err)
	}
	return a.ID
}

func (f *fixture) approve(id, person, scope string) api.Entry {
	f.t.Helper()
	e, err := f.Answer(f.t.Context(), id, by(person), bailiff.Verdict{Approve: true, Scope: scope})
	if err != nil {
		f.t.Fatal(err)
	}
	return e
}

func (f *fixture) redeem(c bailiff.Claim) bool {
	f.t.Helper()
	_, granted, err := f.Redeem(f.t.Context(), c)
	if err != nil {
		f.t.Fatal(err)
	}
	return granted
}

func (f *fixture) state(id string) bailiff.ApprovalState {
	f.t.Helper()
	e, found := f.Get(id)
	if !found {
		f.t.Fatalf("there is no %s", id)
	}
	return e.State
}

func by(person string) bailiff.Approver {
	return bailiff.Approver{Person: person, Credential: "uid:" + person, Channel: "operator"}
}

// claim is a request to run a text in a session of a user, which asks for each
// of the matches.
func claim(text string, matches ...string) bailiff.Claim {
	terms := &bailiff.ApprovalTerms{Scopes: []string{"once", "session", "always"}, GrantSeconds: 600, Quorum: 1, TimeoutSeconds: 60}
	for _, m := range matches {
		terms.Reasons = append(terms.Reasons, bailiff.Reason{Rule: "command.deletes", Message: "deletes " + m, Match: m})
	}
	d := bailiff.Decision{Outcome: bailiff.Ask, Approval: terms, Revision: "r1"}
	d.Backend = bailiff.BackendTerms{Name: "docker", Image: "sha256:1", Scope: "session", Network: "none"}
	return bailiff.Claim{
		Request: bailiff.Request{
			ID: "q", Tool: bailiff.Terminal, Args: bailiff.Args{Command: text, Workdir: "/w"}, Caller: "hermes", Peer: "uid:1001",
			Session: bailiff.Session{ID: "s1", Platform: "telegram", ChatType: "dm", UserID: "42"},
		},
		Decision: d, DecisionID: "d1", Plain: true,
	}
}

// with returns a claim that differs.
func with(c bailiff.Claim, change func(*bailiff.Claim)) bailiff.Claim {
	change(&c)
	return c
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
