package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
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

// sidecar is a fake that remembers what it was asked.
type sidecar struct {
	execute func(ctx context.Context, req bailiff.Request, asked func(api.Approval)) (api.Answer, error)

	step, prints string // told before it executes

	mu       sync.Mutex
	requests []bailiff.Request
	parent   string // of the last one's trace
	ended    []string
}

func (s *sidecar) Execute(ctx context.Context, req bailiff.Request, news gateway.News) (api.Answer, error) {
	s.mu.Lock()
	s.requests, s.parent = append(s.requests, req), gateway.TraceparentOf(ctx)
	s.mu.Unlock()
	if s.execute == nil {
		return api.Answer{Status: bailiff.Completed, Output: "hello\n"}, nil
	}
	if s.step != "" {
		news.Step(s.step)
	}
	if s.prints != "" {
		news.Output([]byte(s.prints))
	}
	return s.execute(ctx, req, news.Approval)
}

func (s *sidecar) EndSession(_ context.Context, session string) (bailiff.Ended, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, session)
	return bailiff.Ended{}, nil
}

func (s *sidecar) asked() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.requests) }

func (s *sidecar) last(t *testing.T) bailiff.Request {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		t.Fatal("the sidecar was not asked")
	}
	return s.requests[len(s.requests)-1]
}

var ana = bailiff.Session{Platform: "cli", UserID: "1000"}

// piped is a client of a server at the other end of pipes; hangUp ends it.
func piped(t *testing.T, s *sidecar, options *sdk.ClientOptions, version string) (c *sdk.ClientSession, hangUp func()) {
	t.Helper()
	server, err := New(Config{Name: "test", Version: "1.2.3", Session: ana, WaitSeconds: 50, Env: []string{"TOKEN"}, Sidecar: s,
		pace: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan error)
	go func() { done <- server.Pipe(t.Context(), fromClient, toClient) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options)
	c, err = client.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	hangUp = sync.OnceFunc(func() {
		_ = c.Close()
		if err := <-done; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	t.Cleanup(hangUp)
	return c, hangUp
}

func use(t *testing.T, c *sdk.ClientSession, tool string, args map[string]any, meta ...sdk.Meta) (text string, failed bool) {
	t.Helper()
	params := &sdk.CallToolParams{Name: tool, Arguments: args}
	for _, m := range meta {
		params.Meta = m
	}
	result, err := c.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	return result.Content[0].(*sdk.TextContent).Text, result.IsError
}

func TestTheToolsAreTheAgentAPIs(t *testing.T) {
	c, _ := piped(t, &sidecar{}, nil, "")
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if want := []string{"execute_code", "process", "terminal"}; !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("the tools are %q, want %q", names, want)
	}
}

func TestACallIsARequestOfTheConfiguredSession(t *testing.T) {
	s := &sidecar{}
	c, hangUp := piped(t, s, nil, "")
	if text, failed := use(t, c, "terminal", map[string]any{"command": "git push", "timeout": 5}); text != "hello\n" || failed {
		t.Errorf("the result is %q, %v", text, failed)
	}
	first := s.last(t)
	if first.Args.Command != "git push" || first.Args.Timeout != 5 || first.WaitSeconds != 50 ||
		!slices.Equal(first.Env, []string{"TOKEN"}) ||
		first.Session.Platform != "cli" || first.Session.UserID != "1000" || !strings.HasPrefix(first.Session.ID, "mcp:test:") {
		t.Errorf("the sidecar was asked %+v", first)
	}
	use(t, c, "execute_code", map[string]any{"code": "1"})
	if second := s.last(t); second.Session != first.Session {
		t.Errorf("two calls are of %+v and %+v", first.Session, second.Session)
	}
	hangUp()
	if !slices.Equal(s.ended, []string{first.Session.ID}) {
		t.Errorf("ended %q, want %q", s.ended, first.Session.ID)
	}
}

func TestACallThatIsNoRequestReachesNobody(t *testing.T) {
	s := &sidecar{}
	c, _ := piped(t, s, nil, "")
	for name, test := range map[string]struct {
		tool string
		args map[string]any
		meta sdk.Meta
	}{
		"an unknown argument":         {"terminal", map[string]any{"command": "ls", "sudo": true}, nil},
		"a wrong type":                {"terminal", map[string]any{"command": 7}, nil},
		"no argument":                 {"terminal", nil, nil},
		"an action that is none":      {"process", map[string]any{"action": "adopt"}, nil},
		"a session that is none":      {"terminal", map[string]any{"command": "ls"}, sdk.Meta{MetaSession: "s1"}},
		"a session with unknown keys": {"terminal", map[string]any{"command": "ls"}, sdk.Meta{MetaSession: map[string]any{"root": true}}},
		"a platform without an id": {"terminal", map[string]any{"command": "ls"},
			sdk.Meta{MetaSession: map[string]any{"platform": "telegram"}}},
	} {
		if text, failed := use(t, c, test.tool, test.args, test.meta); !failed {
			t.Errorf("%s is answered %q", name, text)
		}
	}
	if len(s.requests) > 0 {
		t.Errorf("the sidecar was asked %+v", s.requests)
	}
}

func TestProgramsAreToldOfRefusedConnections(t *testing.T) {
	blocked := &bailiff.EgressTraffic{Blocked: []bailiff.Blocked{{Host: "x.test", Port: 443, Rule: "egress.not_in_table", Count: 2}}}
	c, _ := piped(t, &sidecar{execute: func(context.Context, bailiff.Request, func(api.Approval)) (api.Answer, error) {
		return api.Answer{Status: bailiff.Completed, Message: "Refused on the way out.", Egress: blocked}, nil
	}}, nil, "")
	result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "terminal", Arguments: map[string]any{"command": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	structure, err := json.Marshal(result.Meta[MetaResult])
	if text := result.Content[0].(*sdk.TextContent).Text; err != nil || text != "Refused on the way out." ||
		!strings.Contains(string(structure), `"egress":{"blocked":[{"count":2,"host":"x.test",`) {
		t.Errorf("it is told %q and %s, %v", text, structure, err)
	}
}

func TestWhatDidNotRunIsAnErrorInWords(t *testing.T) {
	var without bailiff.Decision
	without.Env.Withheld = []bailiff.Withheld{{Name: "TOKEN", Rule: "env.program"}}
	for name, test := range map[string]struct {
		answer api.Answer
		err    error
		text   string
		failed bool
	}{
		"denied": {answer: api.Answer{Status: bailiff.Refused, Message: "Denied: no."}, text: "Denied: no.", failed: true},
		"asked": {answer: api.Answer{Status: bailiff.ApprovalRequired, Message: "Waits.",
			Approval: &api.Approval{URL: "http://c/"}}, text: "Waits.\nhttp://c/", failed: true},
		"killed for its time": {answer: api.Answer{Status: bailiff.TimedOut, Output: "a", Message: "Too long."}, text: "a\nToo long.",
			failed: true},
		"failed by itself": {answer: api.Answer{Status: bailiff.Completed, Output: "a\n", ExitCode: 3}, text: "a\n[exit code 3]"},
		"withheld": {answer: api.Answer{Status: bailiff.Completed, Output: "a\n", ExitCode: 1, Decision: without},
			text: "a\nTOKEN was withheld (env.program): it enters for its own programs only; send the one command that needs it alone.\n" +
				"[exit code 1]"},
		"withheld, and not missed": {answer: api.Answer{Status: bailiff.Completed, Output: "a\n", Decision: without}, text: "a\n"},
		"silent":                   {answer: api.Answer{Status: bailiff.Completed}, text: "[no output]"},
		"no text": {answer: api.Answer{Status: bailiff.Completed, Output: "/w==", OutputEncoding: "base64"},
			text: "\uFFFD"},
		"no sidecar": {err: errors.New("no sidecar answers"), text: "No sidecar answers.", failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := piped(t, &sidecar{execute: func(context.Context, bailiff.Request, func(api.Approval)) (api.Answer, error) {
				return test.answer, test.err
			}}, nil, "")
			if text, failed := use(t, c, "terminal", map[string]any{"command": "x"}); text != test.text || failed != test.failed {
				t.Errorf("the result is %q, %v; want %q, %v", text, failed, test.text, test.failed)
			}
		})
	}
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	backendtest.Await(t, what, holds)
}

func TestASchemaNamesWhatTheAgentAPITakes(t *testing.T) {
	c, _ := piped(t, &sidecar{}, nil, "")
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		named := slices.Sorted(maps.Keys(tool.InputSchema.(map[string]any)["properties"].(map[string]any)))
		said, _ := use(t, c, tool.Name, map[string]any{"none": 1})
		_, rest, _ := strings.Cut(said, `nothing is named "none" here, want `)
		taken, _, _ := strings.Cut(rest, ";")
		if want := slices.Sorted(slices.Values(strings.Split(taken, ", "))); !slices.Equal(named, want) {
			t.Errorf("the schema of %s names %q, and %q is taken", tool.Name, named, want)
		}
	}
}

func TestACallBelongsToTheTraceThatItsClientNames(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	s := &sidecar{}
	c, _ := piped(t, s, nil, "")
	for name, test := range map[string]struct {
		meta sdk.Meta
		want string
	}{
		"none":              {nil, ""},
		"one":               {sdk.Meta{gateway.Traceparent: parent, "tracestate": "a=b", "baggage": "c=d"}, parent},
		"what is no text":   {sdk.Meta{gateway.Traceparent: 7}, ""},
		"more than a line":  {sdk.Meta{gateway.Traceparent: parent + "\r\nAuthorization: x"}, ""},
		"more than can fit": {sdk.Meta{gateway.Traceparent: strings.Repeat("0", 1000)}, ""},
	} {
		if text, failed := use(t, c, "terminal", map[string]any{"command": "ls"}, test.meta); failed {
			t.Fatalf("%s: %s", name, text)
		}
		s.mu.Lock()
		if s.parent != test.want {
			t.Errorf("of %s the sidecar hears %q", name, s.parent)
		}
		s.mu.Unlock()
	}
}
