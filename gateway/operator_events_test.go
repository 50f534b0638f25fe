package gateway

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// listener reads a stream of events as it comes.
type listener struct {
	header http.Header
	body   io.ReadCloser
	lines  *bufio.Reader
}

// listenTo returns when the stream has begun.
func listenTo(t testing.TB, d *Listener) *listener {
	t.Helper()
	l := listenerOf(t, d, http.MethodGet, eventsPath, "")
	if first := l.block(t); !strings.HasPrefix(first, ": ") {
		t.Fatalf("the stream begins with %q", first)
	}
	return l
}

// execute asks for a request's stream.
func execute(t testing.TB, d *Listener) *listener {
	t.Helper()
	return listenerOf(t, d, http.MethodPost, "/v1/execute", telegramRequest)
}

func listenerOf(t testing.TB, d *Listener, method, path, body string) *listener {
	t.Helper()
	r, err := http.NewRequest(method, "http://bailiff"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	resp, err := callerOf(t, d).client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &listener{resp.Header, resp.Body, bufio.NewReader(resp.Body)}
}

// block reads up to an empty line.
func (l *listener) block(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ends after %q: %v", all.String(), err)
		}
		if line == "\n" {
			return all.String()
		}
		all.WriteString(line)
	}
}

// next reads the next event of a name strictly.
func (l *listener) next(t testing.TB, name string, into any) {
	t.Helper()
	block := l.block(t)
	for strings.HasPrefix(block, ": ") {
		block = l.block(t)
	}
	data, ok := strings.CutPrefix(block, "event: "+name+"\ndata: ")
	if !ok {
		t.Fatalf("want the event %s, is %q", name, block)
	}
	if err := json.Unmarshal([]byte(data), into, json.RejectUnknownMembers(true), lenient); err != nil {
		t.Fatalf("reading %s: %v", data, err)
	}
}

func (l *listener) rest(t testing.TB) []byte {
	t.Helper()
	rest, err := io.ReadAll(l.lines)
	if err != nil {
		t.Fatalf("reading the stream's end: %v", err)
	}
	return rest
}

// close closes a listener, which must not take as long as the patience that running
// requests are given.
func (l *listener) close(t testing.TB, d *Listener) {
	t.Helper()
	if err := d.Shutdown(context.Background()); err != nil {
		t.Fatalf("closing: %v", err)
	}
}

func TestEventsTellAllThatHappens(t *testing.T) {
	o := newOffice(t, 1)
	l := listenTo(t, open(t, ListenerConfig{}, o.handler(t, "ana")))
	id := o.ask(t, asking("s1", "rm -rf ./build", "rm"))
	var e api.Entry
	if l.next(t, "approval", &e); e.ID != id || e.State != bailiff.ApprovalPending || !e.Shortened ||
		e.Request.Args.Command != "rm -rf ./build" {
		t.Errorf("told of %+v", e)
	}
	if _, err := o.Answer(t.Context(), id, bailiff.Approver{Person: "ana"}, bailiff.Verdict{Approve: true}); err != nil {
		t.Fatal(err)
	}
	if l.next(t, "approval", &e); e.State != bailiff.ApprovalApproved {
		t.Errorf("told of %+v", e)
	}
	var g api.GrantChange
	if l.next(t, "grant", &g); g.Grant.ApprovalID != id || g.Gone {
		t.Errorf("told of %+v", g)
	}
	for _, kind := range []api.EventKind{api.DecisionEvent, api.ApprovalEvent, api.ExecutionEvent, api.SandboxEvent, api.ReloadEvent} {
		if err := o.log.Record(t.Context(), api.Event{DecisionID: "d1", Custom: api.Custom{Event: kind, Session: "s1",
			Message: string(kind)}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"decision", "execution", "sandbox", "reload"} { // an approval has been told as a change
		var event api.Logged
		if l.next(t, name, &event); event.Message != name || event.Session != "s1" {
			t.Errorf("told of %+v", event)
		}
	}
	if _, err := o.Freeze(t.Context(), api.Freeze{Kind: api.FreezeSession, ID: "s1", By: "ana"}); err != nil {
		t.Fatal(err)
	}
	if l.next(t, "grant", &g); !g.Gone {
		t.Errorf("told of %+v", g)
	}
	var f api.FreezeChange
	if l.next(t, "freeze", &f); f.Freeze.ID != "s1" || f.Gone {
		t.Errorf("told of %+v", f)
	}
}

func TestAStreamWithoutNewsSaysThatItLives(t *testing.T) {
	c := newOffice(t, 1).config(&sidecar{}, "ana")
	c.keepAlive = time.Millisecond
	h, err := NewOperator(c)
	if err != nil {
		t.Fatal(err)
	}
	l := listenTo(t, open(t, ListenerConfig{}, h))
	for range 3 {
		if block := l.block(t); !strings.HasPrefix(block, ": ") {
			t.Fatalf("want a comment, is %q", block)
		}
	}
}

// watched hands out channels that a test fills.
type watched struct {
	*office
	changes chan api.Change
}

func (w watched) Watch() (<-chan api.Change, func()) { return w.changes, func() {} }

func TestASlowReaderIsToldThatItLostSomething(t *testing.T) {
	o := newOffice(t, 1)
	c := o.config(&sidecar{}, "ana")
	changes := make(chan api.Change, 1)
	c.Approvals = watched{o, changes}
	h, err := NewOperator(c)
	if err != nil {
		t.Fatal(err)
	}
	l := listenTo(t, open(t, ListenerConfig{}, h))
	changes <- api.Change{Lost: true}
	l.next(t, "lost", &lost{})
	close(changes)
	if rest := l.rest(t); len(rest) > 0 {
		t.Errorf("after the book was closed: %q", rest)
	}
}

func TestAClosedListenerEndsItsStreamsAtOnce(t *testing.T) {
	d := open(t, ListenerConfig{}, newOffice(t, 1).handler(t, "ana"))
	l := listenTo(t, d)
	l.close(t, d)
	if rest := l.rest(t); len(rest) > 0 {
		t.Errorf("the stream goes on: %q", rest)
	}
}

// counted counts who watches.
type counted struct {
	*office
	watching chan int
}

func (c counted) Watch() (<-chan api.Change, func()) {
	changes, stop := c.office.Watch()
	c.watching <- 1
	return changes, func() { stop(); c.watching <- -1 }
}

func TestAClientThatGoesAwayIsWatchedForNoMore(t *testing.T) {
	o := newOffice(t, 1)
	c := o.config(&sidecar{}, "ana")
	watching := make(chan int, 2)
	c.Approvals = counted{o, watching}
	h, err := NewOperator(c)
	if err != nil {
		t.Fatal(err)
	}
	l := listenTo(t, open(t, ListenerConfig{}, h))
	if err := l.body.Close(); err != nil {
		t.Fatal(err)
	}
	if n := <-watching + <-watching; n != 0 {
		t.Errorf("%d watch", n)
	}
}
