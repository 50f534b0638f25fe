package chat

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway"
)

// fakeSurface is a service that shows what is posted.
type fakeSurface struct {
	// fails says why it does not take something now.
	fails func(at Place) error

	mu    sync.Mutex
	all   []*postedMessage
	tried int
}

// postedMessage is a message on it, and how often it was edited.
type postedMessage struct {
	Ref
	Message
	key   string
	edits int
}

func (b *fakeSurface) Post(_ context.Context, at Place, m Message, key string) (Ref, error) {
	if err := b.try(at); err != nil {
		return Ref{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, &postedMessage{Ref{at, fmt.Sprint("bot", len(b.all))}, m, key, 0})
	return b.all[len(b.all)-1].Ref, nil
}

func (b *fakeSurface) Edit(_ context.Context, at Ref, m Message) error {
	if err := b.try(at.Place); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.all {
		if s.Ref == at {
			s.Message.Text = m.Text
			s.edits++
			return nil
		}
	}
	return ErrGone
}

func (b *fakeSurface) Thread(_ context.Context, from Ref, _ string) (Place, error) {
	return Place{from.Chat, "t" + from.Message}, b.try(from.Place)
}

func (b *fakeSurface) try(at Place) error {
	b.mu.Lock()
	b.tried++
	b.mu.Unlock()
	if b.fails == nil {
		return nil
	}
	return b.fails(at)
}

// at are the texts shown at a place, in order.
func (b *fakeSurface) at(p Place) (texts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.all {
		if s.Place == p {
			texts = append(texts, flat(s.Text))
		}
	}
	return texts
}

func (b *fakeSurface) total() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.all)
}

// flat is a text with its styles as signs.
func flat(text Text) string {
	var all strings.Builder
	for _, p := range text {
		sign := map[Style]string{Strong: "*", Code: "`", Block: "```"}[p.Style]
		all.WriteString(sign + p.Text + sign)
	}
	return strings.TrimSpace(all.String())
}

// fakeSidecar is an enforcer whose answers are the test's.
type fakeSidecar struct {
	execute func(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer

	mu    sync.Mutex
	seen  []bailiff.Request
	ended []string
}

func (c *fakeSidecar) Execute(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
	c.mu.Lock()
	c.seen = append(c.seen, req)
	c.mu.Unlock()
	if c.execute != nil {
		return c.execute(ctx, req, news)
	}
	return printed(req, "ran "+req.Args.Command+req.Args.Code+"\n")
}

func printed(req bailiff.Request, output string) bailiff.Answer {
	return bailiff.Answer{RequestID: req.ID, DecisionID: "d1", Status: bailiff.Completed, Output: []byte(output), Backend: "docker",
		SandboxID: "sb1",
		Decision:  bailiff.Decision{Outcome: bailiff.Allow}}
}

func (c *fakeSidecar) Decide(context.Context, bailiff.Request) bailiff.Decided {
	return bailiff.Decided{}
}

func (c *fakeSidecar) Preview(context.Context, bailiff.Request) bailiff.Decided {
	return bailiff.Decided{}
}

func (c *fakeSidecar) Refuse(context.Context, string, bailiff.Reason) bailiff.Decided {
	return bailiff.Decided{}
}

func (c *fakeSidecar) EndSession(_ context.Context, _, session string) (bailiff.Ended, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, session)
	return bailiff.Ended{Sandboxes: 1, Processes: 2}, nil
}

func (c *fakeSidecar) requests() []bailiff.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]bailiff.Request(nil), c.seen...)
}

func (*fakeSidecar) RegisterTools(string, string, []string) error  { return nil }
func (*fakeSidecar) AnswerTool(string, string, string, bool) error { return nil }

// sessionsTest is an account with sessions, with a fake surface and a fake sidecar.
type sessionsTest struct {
	*Sessions
	t       testing.TB
	surface *fakeSurface
	sidecar *fakeSidecar
	n       int
}

// newSessionsTest begins one, as changed, that ana and ben may speak with.
func newSessionsTest(t testing.TB, c *fakeSidecar, change func(*SessionsConfig)) *sessionsTest {
	t.Helper()
	agent, err := gateway.NewAgent(gateway.AgentConfig{Name: "chat", Platforms: []string{"slack"}, Enforcer: c, Tools: c})
	if err != nil {
		t.Fatal(err)
	}
	b := &fakeSurface{}
	config := SessionsConfig{Platform: "slack", Surface: b, Sidecar: agent, AllowedUsers: only("U1", "U2"), RequireMention: true,
		Threads: true, Env: []string{"TOKEN"}, Store: openStore(t, t.TempDir())}
	if change != nil {
		change(&config)
	}
	s, err := NewSessions(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &sessionsTest{s, t, b, c, 0}
}

func openStore(t testing.TB, folder string) *Store {
	t.Helper()
	n, err := OpenStore(folder, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

var (
	ana      = Person{"U1", "Ana"}
	ben      = Person{"U2", "Ben"}
	stranger = Person{"U9", "Ana"}
)

// says has somebody write a message of its own.
func (k *sessionsTest) says(by Person, kind string, at Place, text string, mentioned bool) Said {
	k.n++
	said := Said{Ref: Ref{at, fmt.Sprint("m", k.n)}, Kind: kind, By: by, Text: text, Mentioned: mentioned}
	k.Said(k.t.Context(), said)
	return said
}

// direct has ana write a direct message.
func (k *sessionsTest) direct(text string) Said {
	return k.says(ana, "dm", Place{Chat: "D1"}, text, false)
}

// shows waits until a place shows so many messages, and checks that they are these.
func (k *sessionsTest) shows(at Place, want ...string) {
	k.t.Helper()
	backendtest.Await(k.t, fmt.Sprintf("%d messages are shown at %v", len(want), at),
		func() bool { return len(k.surface.at(at)) >= len(want) })
	got := k.surface.at(at)
	for i := range got {
		if i >= len(want) || got[i] != want[i] {
			k.t.Fatalf("at %v is shown\n%s\nwant\n%s", at, strings.Join(got, "\n--\n"), strings.Join(want, "\n--\n"))
		}
	}
}

// settles waits until nothing is under way.
func (k *sessionsTest) settles() {
	k.t.Helper()
	backendtest.Await(k.t, "nothing is under way", func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.working == 0 && len(k.open) == 0 && len(k.replies) == 0 && k.waiting == 0
	})
}

// only allows these users.
func only(users ...string) func() []string { return func() []string { return users } }
