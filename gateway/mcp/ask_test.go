package mcp

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway"
)

var pending = api.Approval{ID: "a-1", State: bailiff.ApprovalPending, Message: "ana can answer.",
	URL: "http://127.0.0.1:8642/?approval=a-1"}

// people is a sidecar that asks them, and runs what they have answered.
type people struct {
	sidecar
	answered chan struct{}
	about    api.Approval
}

func asked(about api.Approval) *people {
	p := &people{answered: make(chan struct{}), about: about}
	p.execute = p.ask
	return p
}

func (p *people) ask(ctx context.Context, req bailiff.Request, news func(api.Approval)) (api.Answer, error) {
	waits := api.Answer{Status: bailiff.ApprovalRequired, Message: "It waits.", Approval: &p.about}
	select {
	case <-p.answered:
	default:
		if news != nil {
			news(p.about)
		}
		if req.WaitSeconds == 0 {
			return waits, nil
		}
	}
	select {
	case <-ctx.Done():
		return api.Answer{}, ctx.Err()
	case <-p.answered:
	}
	if news != nil {
		done := p.about
		done.State, done.URL = bailiff.ApprovalApproved, ""
		news(done)
	}
	return api.Answer{Status: bailiff.Completed, Output: "ran\n"}, nil
}

// viewer is a client that can show pages, and what its user does.
type viewer struct {
	mu    sync.Mutex
	shown []string
	does  func(context.Context) string
}

func (v *viewer) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			v.mu.Lock()
			v.shown = append(v.shown, r.Params.Mode+" "+r.Params.URL+" "+r.Params.ElicitationID)
			v.mu.Unlock()
			return &sdk.ElicitResult{Action: v.does(ctx)}, nil
		},
	}
}

func (v *viewer) all() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Join(v.shown, "\n")
}

// ways are all by which a client may connect.
var ways = []string{"by a pipe", "by a pipe of an older version", "by HTTP in a session", "by HTTP without"}

func connected(t *testing.T, way string, s *sidecar, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	if strings.HasPrefix(way, "by a pipe") {
		version := ""
		if way != "by a pipe" {
			version = versions[0]
		}
		c, _ := piped(t, s, o, version)
		return c
	}
	_, listener := opened(t, s)
	return connect(t, listener, versions[slices.Index([]string{"by HTTP in a session", "by HTTP without"}, way)], o)
}

func TestAClientThatShowsPagesShowsTheApprovals(t *testing.T) {
	for _, name := range ways {
		t.Run(name, func(t *testing.T) {
			p := asked(pending)
			v := &viewer{does: func(context.Context) string { close(p.answered); return "accept" }}
			c := connected(t, name, &p.sidecar, v.options())
			if text, failed := use(t, c, "terminal", map[string]any{"command": "x"}); text != "ran\n" || failed {
				t.Errorf("it is answered %q, %v", text, failed)
			}
			if want := "url " + pending.URL + " a-1"; v.all() != want {
				t.Errorf("shown was %q, want %q", v.all(), want)
			}
		})
	}
}

func TestToShowAPageAnswersNothing(t *testing.T) {
	for _, name := range ways {
		t.Run(name, func(t *testing.T) {
			p := asked(pending)
			v := &viewer{does: func(context.Context) string { return "accept" }}
			c := connected(t, name, &p.sidecar, v.options())
			ctx, cancel := context.WithCancel(t.Context())
			answered := make(chan error, 1)
			go func() {
				_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "terminal", Arguments: map[string]any{"command": "x"}})
				answered <- err
			}()
			await(t, "the page was shown", func() bool { return v.all() != "" })
			select {
			case err := <-answered:
				t.Errorf("it was answered while nobody had: %v", err)
			default:
			}
			cancel()
			<-answered
		})
	}
}

func TestWhateverAClientAnswersToAPageTheCallWaits(t *testing.T) {
	for _, name := range ways {
		for _, action := range []string{"decline", "cancel"} {
			t.Run(name+" by "+action, func(t *testing.T) {
				p := asked(pending)
				v := &viewer{does: func(context.Context) string { return action }}
				options := v.options()
				waits := make(chan struct{}, 100)
				options.ProgressNotificationHandler = func(context.Context, *sdk.ProgressNotificationClientRequest) { waits <- struct{}{} }
				c := connected(t, name, &p.sidecar, options)
				go func() {
					for v.all() == "" {
						<-waits
					}
					<-waits // told of again after the client's answer
					close(p.answered)
				}()
				if text, failed := use(t, c, "terminal", map[string]any{"command": "x"}, sdk.Meta{"progressToken": "p"}); failed ||
					text != "ran\n" {
					t.Errorf("it is answered %q, %v", text, failed)
				}
			})
		}
	}
}

func TestAnAnswerFromElsewhereTakesThePageBack(t *testing.T) {
	for _, name := range []string{"by a pipe of an older version", "by HTTP in a session"} {
		t.Run(name, func(t *testing.T) {
			p := asked(pending)
			over := make(chan struct{})
			v := &viewer{does: func(context.Context) string { close(p.answered); <-over; return "decline" }}
			options := v.options()
			options.ElicitationCompleteHandler = func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
				if r.Params.ElicitationID == "a-1" {
					close(over)
				}
			}
			c := connected(t, name, &p.sidecar, options)
			if text, failed := use(t, c, "terminal", map[string]any{"command": "x"}); text != "ran\n" || failed {
				t.Errorf("it is answered %q, %v", text, failed)
			}
			<-over
		})
	}
}

func TestAClientIsToldOfLongSteps(t *testing.T) {
	for _, name := range ways {
		t.Run(name, func(t *testing.T) {
			told := make(chan string, 1000)
			s := &sidecar{step: "pulling image debian:12", execute: func(context.Context, bailiff.Request, func(api.Approval)) (api.Answer,
				error) {
				return api.Answer{Status: bailiff.Completed, Output: "ran\n"}, nil
			}}
			c := connected(t, name, s, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
				r *sdk.ProgressNotificationClientRequest) {
				told <- r.Params.Message
			}})
			if text, failed := use(t, c, "terminal", map[string]any{"command": "x"}, sdk.Meta{"progressToken": "p"}); text != "ran\n" ||
				failed {
				t.Errorf("it is answered %q, %v", text, failed)
			}
			if said := <-told; said != s.step {
				t.Errorf("the client is told %q", said)
			}
		})
	}
}

func TestWhereNoPageCanBeShownTheCallWaits(t *testing.T) {
	without := pending
	without.URL = ""
	for _, name := range ways {
		for about, test := range map[string]struct {
			approval api.Approval
			options  func(*viewer) *sdk.ClientOptions
		}{
			"there is no page":         {without, (*viewer).options},
			"the client can show none": {pending, func(*viewer) *sdk.ClientOptions { return nil }},
			"the client can show forms at most": {pending, func(v *viewer) *sdk.ClientOptions {
				o := v.options()
				o.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}
				return o
			}},
		} {
			t.Run(name+", "+about, func(t *testing.T) {
				p := asked(test.approval)
				v := &viewer{does: func(context.Context) string { return "decline" }}
				options := test.options(v)
				if options == nil {
					options = &sdk.ClientOptions{}
				}
				told, answer := make(chan string, 1000), sync.OnceFunc(func() { close(p.answered) })
				options.ProgressNotificationHandler = func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					if told <- r.Params.Message; strings.Contains(r.Params.Message, "pending") {
						answer()
					}
				}
				c := connected(t, name, &p.sidecar, options)
				if text, failed := use(t, c, "terminal", map[string]any{"command": "x"}, sdk.Meta{"progressToken": "p"}); text != "ran\n" ||
					failed {
					t.Errorf("it is answered %q, %v", text, failed)
				}
				if said := <-told; said != below("Approval a-1 is pending. ana can answer.", test.approval.URL) {
					t.Errorf("the client is told %q", said)
				}
				if v.all() != "" {
					t.Errorf("shown was %q", v.all())
				}
			})
		}
	}
}

func TestAClientIsToldTheLastLineOfOutputWhileACommandRuns(t *testing.T) {
	for _, name := range ways {
		t.Run(name, func(t *testing.T) {
			told := make(chan string, 1000)
			enough := make(chan struct{})
			s := &sidecar{prints: "first\nhalf of \x1b[1mwhat\n", execute: func(context.Context, bailiff.Request,
				func(api.Approval)) (api.Answer, error) {
				<-enough
				return api.Answer{Status: bailiff.Completed, Output: "ran\n"}, nil
			}}
			c := connected(t, name, s, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
				r *sdk.ProgressNotificationClientRequest) {
				told <- r.Params.Message
			}})
			go func() {
				for range 3 {
					if said := <-told; said != "half of [1mwhat" {
						t.Errorf("the client is told %q", said)
					}
				}
				close(enough)
			}()
			if text, failed := use(t, c, "terminal", map[string]any{"command": "x"}, sdk.Meta{"progressToken": "p"}); text != "ran\n" ||
				failed {
				t.Errorf("it is answered %q, %v", text, failed)
			}
		})
	}
}

func TestACallEndsBeforeItsClientsLimitAndTheSameCallGoesOn(t *testing.T) {
	enough := make(chan struct{})
	s := &sidecar{prints: "3 of 7\n", execute: func(ctx context.Context, _ bailiff.Request, _ func(api.Approval)) (api.Answer, error) {
		select {
		case <-enough:
			return api.Answer{Status: bailiff.Completed, Output: "ran\n"}, nil
		case <-ctx.Done():
			return api.Answer{}, ctx.Err()
		}
	}}
	_, listener := opened(t, s, func(c *Config, _ *gateway.ListenerConfig) { c.ClientTimeout = 50 * time.Millisecond })
	c := connect(t, listener, versions[0], nil)
	// A call may end before the sidecar has begun, or ended, what it asks for; the next one goes on.
	until := func(what string, holds func(text string, failed bool) bool) {
		backendtest.Await(t, what, func() bool {
			text, failed := use(t, c, "terminal", map[string]any{"command": "x"})
			if failed && !strings.Contains(text, "the same call again") {
				t.Fatalf("it is answered %q", text)
			}
			return holds(text, failed)
		})
	}
	for range 2 {
		until("what it prints to be told", func(text string, failed bool) bool { return failed && strings.Contains(text, "3 of 7") })
	}
	if asked := s.asked(); asked != 1 || s.last(t).WaitSeconds != 1 {
		t.Errorf("the sidecar was asked %d times, %+v", asked, s.last(t))
	}
	other := connect(t, listener, versions[0], nil)
	use(t, other, "terminal", map[string]any{"command": "x"})
	backendtest.Await(t, "the call of another session to ask the sidecar", func() bool { return s.asked() == 2 })
	close(enough)
	until("its end", func(text string, failed bool) bool { return !failed && text == "ran\n" })
	use(t, c, "terminal", map[string]any{"command": "x"})
	backendtest.Await(t, "a call after the end to ask the sidecar", func() bool { return s.asked() == 3 })
}

func TestTheEndOfASessionEndsWhatItsCallsLeft(t *testing.T) {
	ended := make(chan struct{})
	s := &sidecar{execute: func(ctx context.Context, _ bailiff.Request, _ func(api.Approval)) (api.Answer, error) {
		<-ctx.Done()
		close(ended)
		return api.Answer{}, ctx.Err()
	}}
	_, listener := opened(t, s, func(c *Config, _ *gateway.ListenerConfig) { c.ClientTimeout = 50 * time.Millisecond })
	c := connect(t, listener, versions[0], nil)
	use(t, c, "terminal", map[string]any{"command": "x"})
	backendtest.Await(t, "the sidecar to be asked", func() bool { return s.asked() == 1 }) // the call may have ended before
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func TestClientsThatHearOfProgressOrHaveNoLimitWaitToTheEnd(t *testing.T) {
	s := &Server{}
	for name, test := range map[string]struct {
		client string
		token  any
		want   time.Duration
	}{
		"one that gives up after a minute":               {"mcporter", nil, time.Minute},
		"the same, which wants to hear of progress":      {"mcporter", "p", 0},
		"one that gives up even if it hears of progress": {"codex-mcp-client", "p", 5 * time.Minute},
		"one of which nothing is known":                  {"another", nil, 0},
		"one that wants to hear of it, and is known":     {"inspector-cli", 7, 0},
	} {
		call := &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Meta: sdk.Meta{
			sdk.MetaKeyClientInfo: map[string]any{"name": test.client, "version": "1"}}}}
		if test.token != nil {
			call.Params.SetProgressToken(test.token)
		}
		if limit := s.limitOf(call); limit != test.want {
			t.Errorf("%s: the limit is %v, want %v", name, limit, test.want)
		}
	}
}
