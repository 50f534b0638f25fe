package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
)

// MetaSession is the key in a call's _meta under which a client may say of whose
// session the call is: an object like the agent API's session. What it leaves out
// is as configured, unless it names another platform: then it stands alone.
const MetaSession = "bailiff.dev/session"

var (
	errBusy   = errors.New("too many calls run at once; try again in a second")
	errGone   = errors.New("the client of this call is gone")
	errBroken = errors.New("the sidecar failed at this call; its log says how")
)

// call is every tool. What the sidecar does not take is an error of the tool.
func (s *Server) call(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		return failureResult(errBusy), nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(errGone) })()
	req, err := s.request(call)
	if err != nil {
		return failureResult(err), nil
	}
	s.asked.Store(true)
	if parent, is := call.Params.Meta[gateway.Traceparent].(string); is {
		ctx = gateway.WithTraceparent(ctx, parent)
	}
	if call.Extra != nil && call.Extra.Header != nil { // by HTTP
		v := s.visits.of(call.Extra)
		if v == nil {
			return failureResult(errGone), nil
		}
		req.Peer = v.peer
		defer s.tie(ctx, cancel, call, v)()
	}
	return s.ask(ctx, call, req), nil
}

// tie ends a call by HTTP with its connection and with its session.
func (s *Server) tie(ctx context.Context, cancel context.CancelCauseFunc, call *sdk.CallToolRequest, v *visit) (stop func()) {
	go v.beat(ctx, s.config.keepAlive)
	gone := func() { cancel(errGone) }
	unvisit := context.AfterFunc(v.ctx, gone)
	unsession := func() bool { return false }
	if of := s.sessions.find(call.Session.ID()); of != nil {
		of.asked.Store(true)
		unsession = context.AfterFunc(of.life, gone)
	}
	return func() { unvisit(); unsession() }
}

// request reads a call as strictly as the agent API reads a request.
func (s *Server) request(call *sdk.CallToolRequest) (bailiff.Request, error) {
	session, err := s.sessionOf(call)
	if err != nil {
		return bailiff.Request{}, err
	}
	text, err := json.Marshal(map[string]any{"tool": call.Params.Name, "args": arguments(call.Params.Arguments),
		"session": session, "env": s.config.Env, "wait_seconds": s.config.WaitSeconds})
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
	configured := s.config.Session
	if configured.ID == "" {
		configured.ID = s.usualSession(call)
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

// usualSession is the session of a call by HTTP. Where the protocol has none, all
// calls of a peer are of one.
func (s *Server) usualSession(call *sdk.CallToolRequest) string {
	if id := call.Session.ID(); id != "" {
		return s.sessionID(id)
	}
	if v := s.visits.of(call.Extra); v != nil {
		return s.sessionID(v.peer)
	}
	return ""
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
	maps.Copy(whole, claim)
	return whole, err
}

// survive answers for a handler that panicked: it runs in a goroutine of the
// protocol's library, and would take the whole sidecar with it.
func (s *Server) survive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if cause := recover(); cause != nil {
				s.logPanic(method, cause)
				result, err = failureResult(errBroken), nil
			}
		}()
		return next(ctx, method, req)
	}
}
