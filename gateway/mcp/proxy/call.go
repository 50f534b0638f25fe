package proxy

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
)

// answer answers one request of the client.
func (s *session) answer(ctx context.Context, m message) (jsontext.Value, *fault) {
	switch {
	case m.Method == "initialize":
		return s.initialize(ctx, m.Params)
	case m.Method == "ping":
		return jsontext.Value("{}"), nil
	case m.Method != "tools/list" && m.Method != "tools/call" && !slices.Contains(fromClient, m.Method):
		return nil, faultOf(codeMethod, "No method %s passes here.", bailiff.Beginning(m.Method, 64))
	case s.state() == nil:
		return nil, &fault{Code: codeRefused, Message: "The server was not initialized yet."}
	case m.Method == "tools/list":
		st, f := s.listing(ctx)
		if f != nil {
			return nil, f
		}
		return jsonOf(map[string]any{"tools": st.toolList()}), nil
	case m.Method == "tools/call":
		return s.callTool(ctx, m.Params)
	}
	return s.pass(ctx, m)
}

// initialize starts the server, and introduces each side to the other as far as they may know
// of each other.
func (s *session) initialize(ctx context.Context, params jsontext.Value) (jsontext.Value, *fault) {
	var client struct {
		Version      string                    `json:"protocolVersion"`
		Capabilities map[string]jsontext.Value `json:"capabilities"`
		Info         implementation            `json:"clientInfo"`
	}
	if err := json.Unmarshal(params, &client); err != nil {
		return nil, &fault{Code: codeParams, Message: "The parameters of initialize cannot be read: " + err.Error() + "."}
	}
	s.mu.Lock()
	isSecond := s.hasStart
	s.hasStart = true
	s.mu.Unlock()
	if isSecond {
		return nil, &fault{Code: codeInvalid, Message: "The connection is initialized already."}
	}
	if f := s.start(ctx); f != nil {
		return nil, f
	}
	version := client.Version
	if !slices.Contains(versions, version) { // as a server would that does not know it
		version = newest
	}
	capabilities := map[string]jsontext.Value{}
	for method, ability := range fromServer {
		if said, has := client.Capabilities[ability]; has && slices.Contains(s.state().offer, method) {
			capabilities[ability] = said
		}
	}
	result, f := s.ask(ctx, "initialize", map[string]any{"protocolVersion": version, "capabilities": capabilities,
		"clientInfo": client.Info}, nil)
	if f != nil {
		return nil, f
	}
	return s.introduce(ctx, result)
}

// introduce tells the client what the server answered to initialize, as far as it may know.
func (s *session) introduce(ctx context.Context, result jsontext.Value) (jsontext.Value, *fault) {
	var server struct {
		Version      string                    `json:"protocolVersion"`
		Capabilities map[string]jsontext.Value `json:"capabilities"`
		Info         implementation            `json:"serverInfo"`
		Instructions string                    `json:"instructions,omitzero"`
	}
	if err := json.Unmarshal(result, &server); err != nil || server.Info.Name == "" {
		return nil, &fault{Code: codeInternal, Message: "What the server answers to initialize cannot be read."}
	}
	if !slices.Contains(versions, server.Version) {
		return nil, faultOf(codeInternal, "The server speaks the version %q of the protocol, and bailiff %s to %s.",
			bailiff.Beginning(server.Version, 20), versions[0], newest)
	}
	s.say(ctx, message{Method: "notifications/initialized"})
	s.mu.Lock()
	next := *s.server
	next.info, next.instructions = server.Info, server.Instructions
	_, next.listsTools = server.Capabilities["tools"]
	s.server = &next
	s.mu.Unlock()
	st, f := s.listing(ctx)
	if f != nil {
		return nil, f
	}
	able := map[string]jsontext.Value{"tools": jsontext.Value(`{"listChanged":true}`)}
	for ability, needs := range abilities {
		if says, has := server.Capabilities[ability]; has && hasBeginning(st.offer, needs) {
			able[ability] = capability(says)
		}
	}
	server.Capabilities = able
	if !st.trusted {
		server.Instructions = fmt.Sprintf("No tool of this server can be called yet: bailiff denies them until an operator has looked "+
			"at what the server is and offers and said yes, by \"bailiff mcp trust %s\". Tell the user so.", s.opening.Server)
	}
	return jsonOf(server), nil
}

// capability is what a server says that it can, by the words that the protocol has for it alone.
func capability(says jsontext.Value) jsontext.Value {
	var of struct {
		Subscribe   bool `json:"subscribe,omitzero"`
		ListChanged bool `json:"listChanged,omitzero"`
	}
	_ = json.Unmarshal(says, &of) // what cannot be read is nothing that it can
	return jsonOf(of)
}

// callTool calls a tool, if its arguments fit and the policies let it.
func (s *session) callTool(ctx context.Context, params jsontext.Value) (jsontext.Value, *fault) {
	var call struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
		Meta      struct {
			Token jsontext.Value `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(params, &call); err != nil {
		return nil, &fault{Code: codeParams, Message: "The call cannot be read: " + err.Error() + "."}
	}
	if len(call.Arguments) == 0 {
		call.Arguments = jsontext.Value("{}")
	}
	if call.Arguments.Kind() != '{' {
		return nil, &fault{Code: codeParams, Message: "Want an object as arguments."}
	}
	if len(call.Meta.Token) > 0 && !idShape.Match(call.Meta.Token) {
		return nil, &fault{Code: codeParams, Message: "Want a whole number or a short text as progressToken."}
	}
	if isMethod(call.Name) {
		return nil, &fault{Code: codeParams, Message: "No tool is called " + call.Name + ", which is a method of the protocol."}
	}
	st, f := s.listing(ctx)
	if f != nil {
		return nil, f
	}
	t := st.usable(call.Name)
	known := st.trusted && t != nil
	if known {
		if wrong := misfit(t, call.Arguments); wrong != "" {
			return toolError("The arguments do not fit the schema of " + call.Name + ", so that nothing was called: " + wrong + "."), nil
		}
	}
	do := func(ctx context.Context) (jsontext.Value, *fault) {
		return s.ask(ctx, "tools/call", map[string]any{"name": call.Name, "arguments": call.Arguments}, call.Meta.Token)
	}
	result, f := s.carry(ctx, st, bailiff.Args{Name: call.Name, Trusted: known}, call.Arguments, do)
	if f != nil && f.Code == codeRefused {
		return toolError(f.Message), nil // so that the model learns of it
	}
	return result, f
}

// maxMisfit bounds what is said of arguments that do not fit.
const maxMisfit = 500

// misfit says why arguments do not fit a tool's schema; empty if they do.
func misfit(t *tool, arguments jsontext.Value) string {
	var value any
	err := stdjson.Unmarshal(arguments, &value)
	if err == nil {
		err = t.schema.Validate(value)
	}
	if err == nil {
		return ""
	}
	return bailiff.Beginning(err.Error(), maxMisfit)
}

// pass passes on another request of the client.
func (s *session) pass(ctx context.Context, m message) (jsontext.Value, *fault) {
	if !slices.Contains(s.state().offer, m.Method) {
		return nil, faultOf(codeMethod, "The table mcp_tools of the policies does not name %s for the server %s.", m.Method,
			s.opening.Server)
	}
	params := withoutMeta(m.Params)
	return s.carryMethod(ctx, m.Method, params, func(ctx context.Context) (jsontext.Value, *fault) {
		return s.ask(ctx, m.Method, members(params), nil)
	})
}

// outcome is what a call came to, as it goes through the enforcer.
type outcome struct {
	Result jsontext.Value `json:"result,omitzero"`
	Error  *fault         `json:"error,omitzero"`
}

// carryMethod carries a request that is no call of a tool.
func (s *session) carryMethod(ctx context.Context, method string, params jsontext.Value,
	do func(context.Context) (jsontext.Value, *fault)) (jsontext.Value, *fault) {
	st, f := s.listing(ctx)
	if f != nil {
		return nil, f
	}
	return s.carry(ctx, st, bailiff.Args{Name: method, Trusted: st.trusted}, params, do)
}

// carry has a request judged by its name and arguments and, if it may and the server is still
// what st says, does it. A refusal is a fault of the code for that.
func (s *session) carry(ctx context.Context, st *serverState, args bailiff.Args, arguments jsontext.Value,
	do func(context.Context) (jsontext.Value, *fault)) (jsontext.Value, *fault) {
	text := arguments.Clone()
	if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, &fault{Code: codeParams, Message: "The arguments cannot be read: " + err.Error() + "."}
	}
	args.Arguments = string(text)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer, err := s.sidecar.ServeMCP(ctx, s.request(args), func(p bailiff.Progress) {
		if p.ToolCall == nil {
			return
		}
		s.running.Go(func() {
			var result jsontext.Value
			f := s.differs(ctx, st, args.Name)
			if f == nil {
				result, f = do(ctx)
			}
			if err := s.sidecar.AnswerMCP(p.ToolCall.ID, string(jsonOf(outcome{result, f})), f != nil || isError(result)); err != nil {
				s.log.Debug("an answer of an MCP server came too late", "session", s.id, "error", err)
			}
		})
	})
	switch {
	case err != nil:
		return nil, &fault{Code: codeRefused, Message: bailiff.Sentence(err.Error())}
	case answer.Status != bailiff.Completed:
		return nil, &fault{Code: codeRefused, Message: refusalText(answer)}
	}
	var end outcome
	if err := json.Unmarshal(answer.Output, &end); err != nil {
		return nil, &fault{Code: codeInternal, Message: "What the server answered cannot be read."}
	}
	if end.Error != nil {
		return nil, end.Error.cut()
	}
	return cutResult(end.Result, answer.Decision.Limits.OutputBytes)
}

// differs refuses a call that was judged, and perhaps approved, of a server that is another by
// now, or to which no person says yes any more.
func (s *session) differs(ctx context.Context, judged *serverState, name string) *fault {
	st, f := s.listing(ctx)
	if f != nil {
		return f
	}
	before, now := judged.usable(name), st.usable(name)
	if st.trusted == judged.trusted && (before == now || before != nil && now != nil && bytes.Equal(before.definition, now.definition)) {
		return nil
	}
	return &fault{Code: codeRefused, Message: "Nothing was called: what the server offers, or whether it is trusted, changed after the " +
		"call was judged. Call again."}
}

// refusalText says why a call was not made, or not to its end.
func refusalText(a bailiff.Answer) string {
	if a.Message != "" {
		return a.Message
	}
	return bailiff.Sentences(a.Decision.ForSender().Denials)
}
