package replay

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// book is a decision log and what is counted.
type book struct {
	full   error
	masked bool

	mu       sync.Mutex
	events   []api.Event
	shadowed []string
	dropped  int
	news     chan struct{}
}

func (b *book) Record(_ context.Context, e api.Event) error {
	if b.full != nil {
		return b.full
	}
	b.Note(e)
	return nil
}

func (*book) Err() error { return nil }

func (b *book) Note(e api.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
}

func (b *book) Shadowed(tool bailiff.Tool, platform string, was, now bailiff.Outcome, leads api.Direction) {
	b.mu.Lock()
	b.shadowed = append(b.shadowed, strings.TrimSpace(string(tool)+" "+platform+" "+was.String()+" "+now.String()+" "+string(leads)))
	b.mu.Unlock()
	b.news <- struct{}{}
}

func (b *book) ShadowDropped() {
	b.mu.Lock()
	b.dropped++
	b.mu.Unlock()
	b.news <- struct{}{}
}

// cast is a shadow of policies before a log.
func cast(t *testing.T, policies Judge) (*Shadow, *book) {
	t.Helper()
	b := &book{news: make(chan struct{}, 10_000)}
	s := StartShadow(ShadowConfig{Trial: Trial{Policies: policies, Floor: bare}, Recorder: b, Observer: b,
		Masked: func() bool { return b.masked }, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(s.Close)
	return s, b
}

func TestWhatPoliciesInTheShadowWouldDecideOtherwiseIsWrittenDown(t *testing.T) {
	backendtest.Long(t)
	live := shipped(t, nil)
	stern := shipped(t, map[string]string{"house.rego": stern})
	s, b := cast(t, stern)
	denied, same := decided(live, chat("telegram", "denied", "ls"), noon), decided(live, chat("telegram", "another", "ls"), noon)
	must(t, s.Record(t.Context(), denied))
	<-b.news
	s.Note(same)
	<-b.news
	s.Close()
	if want := []string{"terminal telegram allow deny stricter", "terminal telegram allow allow"}; !slices.Equal(b.shadowed, want) ||
		b.dropped != 0 {
		t.Errorf("counted %q and %d dropped, want %q", b.shadowed, b.dropped, want)
	}
	if len(b.events) != 3 || b.events[0].Custom.Event != api.DecisionEvent || b.events[2].Custom.Event != api.DecisionEvent {
		t.Fatalf("the log is %+v", b.events)
	}
	e := b.events[1]
	if e.DecisionID != denied.DecisionID || e.Custom.Event != api.ShadowEvent || e.Custom.Session != "telegram:denied" || e.Result != nil {
		t.Errorf("the event is %+v", e)
	}
	if told := e.Custom.Shadow; told.Outcome != bailiff.Deny || told.Revision != stern.Revision() ||
		!slices.Equal(told.Rules, []string{"house.closed"}) ||
		!slices.Equal(told.Differences, only("outcome", "allow", "deny", api.Stricter)) {
		t.Errorf("the difference is %+v", told)
	}
	if e.Custom.Message != "outcome: allow would be deny (house.closed)" {
		t.Errorf("the message is %q", e.Custom.Message)
	}
}

func TestOnlyWhatThePoliciesDecidedAndWasWrittenIsJudgedInTheShadow(t *testing.T) {
	live := shipped(t, nil)
	s, b := cast(t, live)
	unjudged := map[string]func(*api.Event){
		"another event":    func(e *api.Event) { e.Custom.Event = api.ExecutionEvent },
		"another document": func(e *api.Event) { e.Path = "house/report" },
		"no request":       func(e *api.Event) { e.Input = nil },
		"break-glass":      func(e *api.Event) { e.Custom.BreakGlass = &api.BreakGlass{} },
		"a guard":          func(e *api.Event) { e.Result = bailiff.Denial("guard.night", "No.") },
	}
	for _, change := range unjudged {
		e := decided(live, chat("telegram", "42", "ls"), noon)
		change(&e)
		must(t, s.Record(t.Context(), e))
	}
	b.full = errors.New("disk full")
	if err := s.Record(t.Context(), decided(live, chat("telegram", "42", "ls"), noon)); !errors.Is(err, b.full) {
		t.Errorf("the log's error became %v", err)
	}
	s.Note(decided(live, chat("telegram", "last", "ls"), noon))
	<-b.news
	s.Close()
	if len(b.shadowed) != 1 || b.dropped != 0 || len(b.events) != len(unjudged)+1 {
		t.Errorf("judged %q, dropped %d, wrote %d events", b.shadowed, b.dropped, len(b.events))
	}
}

// stuck answers when it is let go.
type stuck struct {
	Judge
	asked, released chan struct{}
}

func (s stuck) Rejudge(ctx context.Context, input []byte) (bailiff.Decision, error) {
	s.asked <- struct{}{}
	select {
	case <-s.released:
	case <-ctx.Done():
	}
	return s.Judge.Rejudge(ctx, input)
}

func TestAShadowThatLagsKeepsNobodyWaitingAndDropsWhatIsTooMuch(t *testing.T) {
	live := shipped(t, nil)
	judge := stuck{live, make(chan struct{}, maxWaiting+10), make(chan struct{})}
	s, b := cast(t, judge)
	e := decided(live, chat("telegram", "42", "ls"), noon)
	must(t, s.Record(t.Context(), e))
	<-judge.asked // and waits from here on
	const more = 7
	for range maxWaiting + more {
		must(t, s.Record(t.Context(), e))
	}
	if b.dropped != more || len(b.events) != 1+maxWaiting+more {
		t.Errorf("dropped %d of %d, want %d", b.dropped, len(b.events), more)
	}
	close(judge.released)
	for range 1 + maxWaiting + more {
		<-b.news
	}
	must(t, s.Record(t.Context(), e))
	<-b.news
	s.Close()
	if len(b.shadowed) != maxWaiting+2 {
		t.Errorf("judged %d, want all that waited and one more", len(b.shadowed))
	}
}

func TestWhatWaitsForAShadowIsBoundedInMemory(t *testing.T) {
	live := shipped(t, nil)
	judge := stuck{live, make(chan struct{}, 1), make(chan struct{})}
	s, b := cast(t, judge)
	defer close(judge.released)
	must(t, s.Record(t.Context(), decided(live, chat("telegram", "42", "ls"), noon)))
	<-judge.asked
	large := decided(live, chat("telegram", "42", "echo "+strings.Repeat("x", 1<<20)), noon)
	for range 20 {
		must(t, s.Record(t.Context(), large))
	}
	if s.bytes > maxWaitingBytes || b.dropped < 12 {
		t.Errorf("%d bytes wait, %d were dropped", s.bytes, b.dropped)
	}
}

// refusing has no policies.
type refusing struct{}

func (refusing) Rejudge(context.Context, []byte) (bailiff.Decision, error) {
	return bailiff.Decision{}, errors.New("the policies have faults")
}

func (refusing) RejudgeConnection(context.Context, []byte) (bailiff.ConnectionJudgement, error) {
	return bailiff.ConnectionJudgement{}, errors.New("the policies have faults")
}

// panicking are policies that a fault of ours meets.
type panicking struct{ refusing }

func (panicking) Rejudge(context.Context, []byte) (bailiff.Decision, error) { panic("a fault") }

func TestTheValuesOfAMaskedLogAreNotToldByItsShadow(t *testing.T) {
	backendtest.Long(t)
	s, b := cast(t, shipped(t, map[string]string{"house.rego": stern}))
	b.masked = true
	must(t, s.Record(t.Context(), decided(shipped(t, nil), chat("telegram", "denied", "ls"), noon)))
	<-b.news
	s.Close()
	if len(b.events) != 2 {
		t.Fatalf("the log is %+v", b.events)
	}
	told := b.events[1].Custom
	if told.Message != "outcome would differ (house.closed)" ||
		!slices.Equal(told.Shadow.Differences, only("outcome", "", "", api.Stricter)) {
		t.Errorf("it tells %q, %+v", told.Message, told.Shadow)
	}
}

func TestAShadowThatPanicsEndsNothing(t *testing.T) {
	s, b := cast(t, panicking{})
	for range 2 {
		must(t, s.Record(t.Context(), decided(shipped(t, nil), chat("telegram", "42", "ls"), noon)))
		<-b.news
	}
	s.Close()
	if b.dropped != 2 || len(b.events) != 2 {
		t.Errorf("dropped %d, wrote %d", b.dropped, len(b.events))
	}
}

func TestAShadowWithoutPoliciesCountsWhatItCannotJudge(t *testing.T) {
	s, b := cast(t, refusing{})
	must(t, s.Record(t.Context(), decided(shipped(t, nil), chat("telegram", "42", "ls"), noon)))
	<-b.news
	s.Close()
	if b.dropped != 1 || len(b.shadowed) != 0 || len(b.events) != 1 {
		t.Errorf("dropped %d, judged %q, wrote %d", b.dropped, b.shadowed, len(b.events))
	}
	must(t, s.Record(t.Context(), api.Event{})) // is still written
}

func TestConnectionsAreJudgedInTheShadow(t *testing.T) {
	backendtest.Long(t)
	live := hosts(t, "{}", nil)
	s, b := cast(t, hosts(t, "{}", map[string]string{"house.rego": sternAboutHosts}))
	must(t, s.Record(t.Context(), reaching(live, "b.test", "GET", "/")))
	<-b.news
	s.Note(reaching(live, "a.test", "GET", "/"))
	<-b.news
	s.Close()
	if want := []string{"connection telegram allow deny stricter", "connection telegram allow allow"}; !slices.Equal(b.shadowed, want) {
		t.Errorf("counted %q, want %q", b.shadowed, want)
	}
	if len(b.events) != 3 {
		t.Fatalf("written are %+v", b.events)
	}
	of := slices.IndexFunc(b.events, func(e api.Event) bool { return e.Custom.Event == api.ShadowEvent })
	if e := b.events[of]; e.DecisionID != "d-1" || e.Custom.Message != "outcome: allow would be deny (house.closed)" {
		t.Errorf("the event says %+v", e.Custom)
	}
}
