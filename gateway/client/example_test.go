package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

func ExampleClient_Execute() {
	address, stop := sidecar() // usually unix:///run/bailiff/agent.sock
	defer stop()
	c, err := client.New(address, bailiff.Secret{})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := c.Execute(context.Background(), bailiff.Request{
		Tool:    bailiff.Terminal,
		Args:    bailiff.Args{Command: "echo hello"},
		Session: bailiff.Session{ID: "s1", Platform: "telegram", UserID: "42"},
	}, client.News{
		Decision: func(d api.Decided) { fmt.Println("decided:", d.Decision.Outcome) },
	})
	switch {
	case errors.Is(err, client.ErrUncertain):
		fmt.Println("it may have run:", err)
	case err != nil:
		fmt.Println("it did not run:", err)
	default:
		fmt.Print(answer.Status, ", ", answer.ExitCode, ": ", answer.Output)
	}
	// Output:
	// decided: allow
	// completed, 0: hello
}

// greeter is a sidecar that says hello to everybody.
type greeter struct{}

func (greeter) Execute(_ context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
	decision := bailiff.Decision{Outcome: bailiff.Allow, Denials: []bailiff.Reason{}}
	news(bailiff.Progress{Decision: &bailiff.Decided{ID: "d1", Decision: decision}})
	news(bailiff.Progress{Output: []byte("hello\n")})
	return bailiff.Answer{RequestID: req.ID, DecisionID: "d1", Status: bailiff.Completed, Output: []byte("hello\n"), Decision: decision}
}

func (greeter) Decide(context.Context, bailiff.Request) bailiff.Decided { return bailiff.Decided{} }

func (greeter) Preview(context.Context, bailiff.Request) bailiff.Decided { return bailiff.Decided{} }

func (greeter) Refuse(context.Context, string, bailiff.Reason) bailiff.Decided {
	return bailiff.Decided{}
}

func (greeter) EndSession(context.Context, string, string) (bailiff.Ended, error) {
	return bailiff.Ended{}, nil
}

func (greeter) RegisterTools(string, string, []string) error { return nil }

func (greeter) AnswerTool(string, string, string, bool) error { return nil }

// sidecar serves the greeter at an address.
func sidecar() (address string, stop func()) {
	folder, err := os.MkdirTemp("", "example")
	var agent http.Handler
	if err == nil {
		agent, err = gateway.NewAgent(gateway.AgentConfig{Name: "example", Platforms: []string{"*"}, Enforcer: greeter{}, Tools: greeter{}})
	}
	var listener *gateway.Listener
	if err == nil {
		listener, err = gateway.Open(gateway.ListenerConfig{Network: "unix", Address: filepath.Join(folder, "agent.sock")}, agent)
	}
	if err != nil {
		panic(err)
	}
	go func() { _ = listener.Serve() }()
	return listener.Address(), func() { _ = errors.Join(listener.Shutdown(context.Background()), os.RemoveAll(folder)) }
}
