package client

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
)

// toolbox is one that scripts wait for.
type toolbox struct {
	names   []string
	answers chan string
}

func (b *toolbox) RegisterTools(_, session string, names []string) error {
	b.names = append(slices.Clone(names), session)
	return nil
}

func (b *toolbox) AnswerTool(_, id, result string, _ bool) error {
	if id != "c/1" {
		return errors.New("nobody waits")
	}
	b.answers <- result
	return nil
}

func TestAScriptsCallIsAnsweredWhileItsRequestRuns(t *testing.T) {
	b := &toolbox{answers: make(chan string, 2)}
	s := sidecar{func(_ context.Context, _ bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{ToolCall: &bailiff.ToolCall{ID: "c/1", Name: "web_search", Arguments: `{"query":"x"}`}})
		return bailiff.Answer{Status: bailiff.Completed, Output: []byte(<-b.answers + <-b.answers)}
	}}
	h, err := gateway.NewAgent(gateway.AgentConfig{Name: "hermes", Messaging: []string{"telegram"}, Enforcer: s, Tools: b})
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, open(t, gateway.ListenerConfig{}, h))
	if err := c.RegisterTools(t.Context(), "a/b", []string{"web_search"}); err != nil ||
		!slices.Equal(b.names, []string{"web_search", "a/b"}) {
		t.Errorf("registered %q, %v", b.names, err)
	}
	wrong := "no such page"
	answer, err := c.Execute(t.Context(), request, News{ToolCall: func(call api.ToolCall) {
		for _, a := range []api.ToolAnswer{{Result: []byte(`{"asked":` + string(call.Arguments) + `}`)}, {Error: &wrong}} {
			if err := c.AnswerTool(t.Context(), call.ID, a); err != nil {
				t.Error(err)
			}
		}
	}})
	if want := `{"asked":{"query":"x"}}no such page`; err != nil || answer.Output != want {
		t.Errorf("the script got %q, %v, want %q", answer.Output, err, want)
	}
	var p *api.Problem
	if err := c.AnswerTool(t.Context(), "c2", api.ToolAnswer{Error: &wrong}); !errors.As(err, &p) || p.Code != "tool_call_unknown" {
		t.Errorf("answering nobody: %v", err)
	}
}
