package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
)

// MetaSession is the key in a call's _meta under which a client may say of whose
// session the call is: an object like the agent API's session. What it leaves out
// is as configured, unless it names another platform: then it stands alone.
const MetaSession = "bailiff.dev/session"

// call is every tool. What the sidecar does not take is an error of the tool.
func (s *Server) call(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	req, err := s.request(call)
	if err != nil {
		return failed(err), nil
	}
	answer, err := s.Sidecar.Execute(ctx, req, s.progress(ctx, call))
	if err != nil {
		return failed(err), nil
	}
	return told(answer), nil
}

// request reads a call as strictly as the agent API reads a request.
func (s *Server) request(call *sdk.CallToolRequest) (bailiff.Request, error) {
	session, err := s.sessionOf(call)
	if err != nil {
		return bailiff.Request{}, err
	}
	text, err := json.Marshal(map[string]any{"tool": call.Params.Name, "args": arguments(call.Params.Arguments),
		"session": session, "env": s.Env, "wait_seconds": s.WaitSeconds})
	if err != nil {
		return bailiff.Request{}, fmt.Errorf("reading the call: %w", err)
	}
	return gateway.ParseRequest(text)
}

// arguments are an object, also where there are none.
func arguments(given json.RawMessage) json.RawMessage {
	if len(given) == 0 {
		return json.RawMessage("{}")
	}
	return given
}

// sessionOf is whose call it is.
func (s *Server) sessionOf(call *sdk.CallToolRequest) (any, error) {
	configured := s.Session
	if configured.ID == "" {
		configured.ID = s.sessionID(call.Session.ID())
	}
	given, named := call.Params.Meta[MetaSession]
	if !named {
		return configured, nil
	}
	claim, ok := given.(map[string]any)
	if !ok {
		return nil, errors.New("reading the call: _meta[\"" + MetaSession + "\"] is no object, want one like the session of the agent API")
	}
	return within(configured, claim)
}

// within completes a claim with what is configured. A claim of another platform is
// of other people: nothing of the configured ones belongs to it.
func within(configured bailiff.Session, claim map[string]any) (map[string]any, error) {
	if platform, named := claim["platform"]; named && platform != configured.Platform {
		return claim, nil
	}
	text, err := json.Marshal(configured)
	whole := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &whole)
	}
	for key, value := range claim {
		whole[key] = value
	}
	return whole, err
}

// progress tells a client that wants to know who is asked and where.
func (s *Server) progress(ctx context.Context, call *sdk.CallToolRequest) func(gateway.Approval) {
	token := call.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var steps atomic.Int64
	return func(a gateway.Approval) {
		_ = call.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(steps.Add(1)), Message: asking(a)})
	}
}

// asking says what an approval waits for, or what became of it.
func asking(a gateway.Approval) string {
	said := fmt.Sprintf("Approval %s is %s.", a.ID, a.State)
	for _, more := range []string{a.Message, a.URL} {
		if more != "" {
			said += " " + more
		}
	}
	return said
}
