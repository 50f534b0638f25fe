package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// toolbox is a fake that remembers what it was told; "c1" alone waits for an
// answer, and the session "full" finds no room.
type toolbox struct {
	mu   sync.Mutex
	told []string
}

func (b *toolbox) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, fmt.Sprintf(format, args...))
}

func (b *toolbox) RegisterTools(caller, session string, names []string) error {
	if session == "full" {
		return errors.New("remembering the tools: there is no room")
	}
	b.note("%s %s has %q", caller, session, names)
	return nil
}

func (b *toolbox) AnswerTool(caller, id, result string, isError bool) error {
	if id != "c1" {
		return errors.New("nobody waits")
	}
	b.note("%s %s is %s %v", caller, id, result, isError)
	return nil
}

// toolListener is a listener with a toolbox behind it.
func toolListener(t *testing.T) (caller, *toolbox) {
	t.Helper()
	c, b := agentOf(&enforcer{}), &toolbox{}
	c.Tools = b
	return callerOf(t, open(t, ListenerConfig{}, agentHandler(t, c))), b
}

func TestAnAgentSaysWhichToolsASessionHas(t *testing.T) {
	c, b := toolListener(t)
	for _, body := range []string{`{"tools": ["web_search", "send_mail"]}`, `{"tools": []}`} {
		if a := c.post("/v1/sessions/a%2Fb/tools", body); a.status != http.StatusNoContent || len(a.body) > 0 {
			t.Errorf("%s: answered %d %s", body, a.status, a.body)
		}
	}
	if want := []string{`hermes a/b has ["web_search" "send_mail"]`, `hermes a/b has []`}; !slices.Equal(b.told, want) {
		t.Errorf("it was told %q, want %q", b.told, want)
	}
}

func TestToolsThatCannotBeAreRefusedWithThePlaceOfTheFault(t *testing.T) {
	many := `"` + strings.Join(slices.Repeat([]string{"a"}, 65), `", "`) + `"`
	for body, at := range map[string]string{
		`{}`: "/tools", `{"tools": null}`: "/tools", ``: "/tools", `{"tools": "a"}`: "/tools", `{"tools": [1]}`: "/tools/0",
		`{"tools": ["web_search", "Web"]}`: "/tools/1", `{"tools": ["terminal"]}`: "/tools/0", `{"tools": ["execute_code"]}`: "/tools/0",
		`{"tools": ["a", "b", "a"]}`: "/tools/2", `{"tools": [` + many + `]}`: "/tools", `{"tool": []}`: "/tool",
		`{"tools": [""]}`: "/tools/0",
	} {
		c, b := toolListener(t)
		p := c.post("/v1/sessions/s1/tools", body).problem(t, http.StatusBadRequest)
		if len(p.Errors) != 1 || p.Errors[0].At != at || len(b.told) > 0 {
			t.Errorf("%s: the problem is %+v, the toolbox was told %q, want a fault at %s", body, p, b.told, at)
		}
	}
}

func TestWhereThereIsNoRoomForToolsTheAgentIsToldToComeAgain(t *testing.T) {
	c, _ := toolListener(t)
	a := c.post("/v1/sessions/full/tools", `{"tools": ["a"]}`)
	if p := a.problem(t, http.StatusServiceUnavailable); p.Code != "busy" || a.header.Get("Retry-After") == "" {
		t.Errorf("the problem is %+v", p)
	}
}

func TestAnAgentAnswersACallWithAValueOrInWords(t *testing.T) {
	c, b := toolListener(t)
	for body, want := range map[string]string{
		`{"result": {"a": [1, null]}}`: `hermes c1 is {"a": [1, null]} false`,
		`{"result": null}`:             `hermes c1 is null false`,
		`{"result": "text"}`:           `hermes c1 is "text" false`,
		`{"error": "no such page"}`:    `hermes c1 is no such page true`,
		`{"error": ""}`:                `hermes c1 is  true`,
	} {
		b.told = nil
		if a := c.post("/v1/tool_calls/c1", body); a.status != http.StatusNoContent || !slices.Equal(b.told, []string{want}) {
			t.Errorf("%s: answered %d %s, the toolbox was told %q, want %q", body, a.status, a.body, b.told, want)
		}
	}
}

func TestAnAnswerThatIsNoneIsRefused(t *testing.T) {
	c, b := toolListener(t)
	for body, at := range map[string]string{
		``: "", `{}`: "", `{"result": 1, "error": "x"}`: "/error", `{"error": 1}`: "/error", `{"results": 1}`: "/results",
		`{"result": }`: "/result", `{"error": null}`: "",
	} {
		if p := c.post("/v1/tool_calls/c1", body).problem(t, http.StatusBadRequest); len(p.Errors) != 1 || p.Errors[0].At != at {
			t.Errorf("%s: the problem is %+v, want a fault at %q", body, p, at)
		}
	}
	if p := c.post("/v1/tool_calls/c2", `{"result": 1}`).problem(t, http.StatusNotFound); p.Code != "tool_call_unknown" || len(b.told) > 0 {
		t.Errorf("a call that nobody made: %+v, the toolbox was told %q", p, b.told)
	}
}

func TestAStreamTellsOfACallThatTheAgentIsToAnswer(t *testing.T) {
	e := &enforcer{execute: func(_ context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{Decision: &bailiff.Decided{ID: "d1", Decision: allowed}})
		news(bailiff.Progress{ToolCall: &bailiff.ToolCall{ID: "c1", Name: "web_search",
			Arguments: `{"query": "a\nb", "most": 12345678901234567890}`}})
		return completed(req, "")
	}}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	list := events(t, c.post("/v1/execute", telegramRequest, "Accept", "text/event-stream"))
	want := event{"tool_call", `{"id":"c1","name":"web_search","arguments":{"query":"a\nb","most":12345678901234567890}}`}
	if len(list) != 3 || list[1] != want {
		t.Errorf("the events are %q, want %q as the second", list, want)
	}
}

func TestNoClientCallsAToolInAScriptsName(t *testing.T) {
	e := &enforcer{}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	for _, args := range []string{`{}`, `{"name": "web_search", "arguments": {}}`} {
		body := `{"tool": "call", "args": ` + args + `, "session": {"id": "s1", "platform": "telegram"}}`
		for _, path := range []string{"/v1/execute", "/v1/decide"} {
			if p := c.post(path, body).problem(t, http.StatusBadRequest); p.Errors[0].At != "/tool" {
				t.Errorf("%s %s: the problem is %+v", path, args, p)
			}
		}
		if a := c.post("/v1/data/bailiff/decision", `{"input": `+body+`}`); !strings.Contains(string(a.body), "request.invalid") {
			t.Errorf("the Data API answers %s", a.body)
		}
	}
	if len(e.seen) > 0 {
		t.Errorf("the enforcer got %+v", e.seen)
	}
}
