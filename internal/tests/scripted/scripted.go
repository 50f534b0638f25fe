// Package scripted is a language model that says what it was told to, so that a real agent
// shows what it does with a call of a tool.
//
// What is promised: it listens on this machine's loopback only, and asks for nothing but the
// calls that it was given.
package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Model asks for the calls it was given, one after the other, each once it has the result of the
// one before, and then says that it is done. It speaks Anthropic's messages and
// OpenAI's responses and chat completions, all of them as streams, and Google's generateContent in both ways.
type Model struct {
	// URL is what agents have as the base address, without "/v1".
	URL    string
	calls  []Call
	server *http.Server

	mu      sync.Mutex
	offered []string
	results []string
}

// Call is one tool call.
type Call struct {
	// Tool is its name as the agent offers it; a tool within a namespace is
	// "namespace/name".
	Tool string
	// Args are its arguments: an object, the text of a tool that takes free text, or
	// a function that makes either of the results so far.
	Args any
}

// Serve starts a model that asks for these calls, until it is closed.
func Serve(calls ...Call) (*Model, error) {
	m := &Model{calls: calls}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.speak(messages{}))
	mux.HandleFunc("POST /v1/responses", m.speak(responses{}))
	mux.HandleFunc("POST /v1/chat/completions", m.speak(completions{}))
	mux.HandleFunc("POST /v1beta/models/{call}", m.generate)
	mux.HandleFunc("POST /v1/messages/count_tokens", says(`{"input_tokens": 10}`))
	mux.HandleFunc("GET /v1/models", says(`{"object": "list", "data": [], "models": []}`))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a scripted model: %w", err)
	}
	m.URL = "http://" + listener.Addr().String()
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = m.server.Serve(listener) }() // ends when it is closed
	return m, nil
}

// Close ends it and its connections.
func (m *Model) Close() error { return m.server.Close() }

// Results are what the agent sent back, a text for each call that it ended.
func (m *Model) Results() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.results)
}

// Offers are the names of the tools that the agent offered.
func (m *Model) Offers() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.offered)
}

// A dialect is how one kind of agent talks with its model.
type dialect interface {
	// read finds the tools on offer and the results so far in a request.
	read(body []byte) (tools []tool, results []string, err error)
	// say writes an answer: the nth call, or that all is done, where it is nil.
	say(to stream, n int, call *asked)
}

// tool is one on offer.
type tool struct {
	name, namespace string
	free            bool // takes text instead of an object
}

func (t tool) String() string {
	if t.namespace == "" {
		return t.name
	}
	return t.namespace + "/" + t.name
}

// asked is a call of a tool that is on offer.
type asked struct {
	tool
	args any
}

const done = "done"

func (m *Model) speak(d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var tools []tool
		var results []string
		if err == nil {
			tools, results, err = d.read(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		d.say(stream{w}, len(results), m.next(tools, results))
	}
}

// next is the call that is due, of those whose tool is on offer: an agent that
// another one started may have fewer. An agent also asks without any tool, for a
// title and the like, and then hears that all is done.
func (m *Model) next(tools []tool, results []string) *asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(results) > len(m.results) {
		m.results = results
	}
	for _, t := range tools {
		if !slices.Contains(m.offered, t.String()) {
			m.offered = append(m.offered, t.String())
		}
	}
	var due []asked
	for _, call := range m.calls {
		if at := slices.IndexFunc(tools, func(t tool) bool { return t.String() == call.Tool }); at >= 0 {
			due = append(due, asked{tool: tools[at], args: call.Args})
		}
	}
	if len(results) >= len(due) {
		return nil
	}
	call := due[len(results)]
	if from, ok := call.args.(func(results []string) any); ok {
		call.args = from(results)
	}
	return &call
}

func written(args any) string {
	if text, ok := args.(string); ok {
		return text
	}
	text, err := json.Marshal(args)
	if err != nil {
		panic(err) // the caller's own literal
	}
	return string(text)
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}
}

// object is a piece of JSON on its way out.
type object map[string]any

// stream is an answer that goes out as events.
type stream struct{ io.Writer }

// event writes one whose name stands in its data too.
func (s stream) event(name string, data object) {
	data["type"] = name
	_, _ = fmt.Fprintf(s, "event: %s\ndata: %s\n\n", name, written(data))
}

func (s stream) data(data any) { _, _ = fmt.Fprintf(s, "data: %s\n\n", written(data)) }

// plain is the text of a content that is one string, or a list of parts.
func plain(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(content, &parts)
	var all strings.Builder
	for _, part := range parts {
		all.WriteString(part.Text)
	}
	return all.String()
}

// messages are Anthropic's.
type messages struct{}

func (messages) read(body []byte) (tools []tool, results []string, err error) {
	var asks struct {
		Tools    []struct{ Name string }
		Messages []struct{ Content json.RawMessage }
	}
	if err = json.Unmarshal(body, &asks); err != nil {
		return nil, nil, err
	}
	for _, t := range asks.Tools {
		tools = append(tools, tool{name: t.Name})
	}
	for _, message := range asks.Messages {
		var parts []struct {
			Type, Text string
			Content    json.RawMessage
		}
		_ = json.Unmarshal(message.Content, &parts) // it may be one string
		for _, part := range parts {
			switch {
			case part.Type == "tool_result":
				results = append(results, plain(part.Content))
			case part.Type == "text" && len(results) > 0: // what a hook said of the call
				results[len(results)-1] += "\n" + part.Text
			}
		}
	}
	return tools, results, nil
}

func (messages) say(to stream, n int, call *asked) {
	block, delta, reason := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": done}, "end_turn"
	if call != nil {
		block = object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": call.name, "input": object{}}
		delta, reason = object{"type": "input_json_delta", "partial_json": written(call.args)}, "tool_use"
	}
	to.event("message_start", object{"message": object{"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant",
		"model":   "scripted",
		"content": []any{}, "stop_reason": nil, "usage": object{"input_tokens": 1, "output_tokens": 1}}})
	to.event("content_block_start", object{"index": 0, "content_block": block})
	to.event("content_block_delta", object{"index": 0, "delta": delta})
	to.event("content_block_stop", object{"index": 0})
	to.event("message_delta", object{"delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 1}})
	to.event("message_stop", object{})
}

// responses are OpenAI's newer kind.
type responses struct{}

func (responses) read(body []byte) (tools []tool, results []string, err error) {
	type offer struct{ Type, Name string }
	var asks struct {
		Tools []struct {
			offer
			Tools []offer
		}
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	if err = json.Unmarshal(body, &asks); err != nil {
		return nil, nil, err
	}
	for _, t := range asks.Tools {
		if t.Type != "namespace" {
			tools = append(tools, tool{name: t.Name, free: t.Type == "custom"})
		}
		for _, within := range t.Tools {
			tools = append(tools, tool{name: within.Name, namespace: t.Name})
		}
	}
	for _, item := range asks.Input {
		if strings.HasSuffix(item.Type, "_call_output") {
			results = append(results, plain(item.Output))
		}
	}
	return tools, results, nil
}

func (responses) say(to stream, n int, call *asked) {
	item := object{"type": "message", "id": fmt.Sprintf("m_%d", n), "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": done, "annotations": []any{}}}}
	if call != nil {
		item = called(n, call)
	}
	id := fmt.Sprintf("resp_%d", n)
	to.event("response.created", object{"response": object{"id": id, "object": "response", "status": "in_progress", "output": []any{}}})
	to.event("response.output_item.added", object{"output_index": 0, "item": item})
	to.event("response.output_item.done", object{"output_index": 0, "item": item})
	to.event("response.completed", object{"response": object{"id": id, "object": "response", "status": "completed", "output": []any{item},
		"usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}})
}

func called(n int, call *asked) object {
	item := object{"type": "function_call", "id": fmt.Sprintf("fc_%d", n), "call_id": fmt.Sprintf("call_%d", n),
		"name": call.name, "status": "completed"}
	switch {
	case call.free:
		item["type"], item["input"] = "custom_tool_call", written(call.args)
	case call.namespace != "":
		item["namespace"] = call.namespace
		fallthrough
	default:
		item["arguments"] = written(call.args)
	}
	return item
}

// completions are OpenAI's older kind.
type completions struct{}

func (completions) read(body []byte) (tools []tool, results []string, err error) {
	var asks struct {
		Tools    []struct{ Function struct{ Name string } }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err = json.Unmarshal(body, &asks); err != nil {
		return nil, nil, err
	}
	for _, t := range asks.Tools {
		tools = append(tools, tool{name: t.Function.Name})
	}
	for _, message := range asks.Messages {
		if message.Role == "tool" {
			results = append(results, plain(message.Content))
		}
	}
	return tools, results, nil
}

func (completions) say(to stream, n int, call *asked) {
	message, reason := object{"role": "assistant", "content": done}, "stop"
	if call != nil {
		reason = "tool_calls"
		message = object{"role": "assistant", "tool_calls": []any{object{"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
			"function": object{"name": call.name, "arguments": written(call.args)}}}}
	}
	for _, choice := range []object{{"index": 0, "delta": message, "finish_reason": nil},
		{"index": 0, "delta": object{}, "finish_reason": reason}} {
		to.data(object{"id": fmt.Sprintf("chatcmpl-%d", n), "object": "chat.completion.chunk", "created": 1,
			"model": "scripted", "choices": []any{choice}})
	}
	_, _ = io.WriteString(to, "data: [DONE]\n\n")
}

// generate speaks as Google's models, whose paths end in what is wanted of them.
func (m *Model) generate(w http.ResponseWriter, r *http.Request) {
	switch _, want, _ := strings.Cut(r.PathValue("call"), ":"); want {
	case "streamGenerateContent":
		m.speak(contents{})(w, r)
	case "generateContent": // for a title and the like
		says(written(generated(nil)))(w, r)
	default:
		says(`{"totalTokens": 10}`)(w, r)
	}
}

// contents are Google's.
type contents struct{}

func (contents) read(body []byte) (tools []tool, results []string, err error) {
	var asks struct {
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct {
					Response struct{ Output, Error string }
				}
			}
		}
	}
	if err = json.Unmarshal(body, &asks); err != nil {
		return nil, nil, err
	}
	for _, t := range asks.Tools {
		for _, f := range t.FunctionDeclarations {
			tools = append(tools, tool{name: f.Name})
		}
	}
	for _, content := range asks.Contents {
		for _, part := range content.Parts {
			if said := part.FunctionResponse; said != nil {
				results = append(results, said.Response.Output+said.Response.Error)
			}
		}
	}
	return tools, results, nil
}

func (contents) say(to stream, _ int, call *asked) { to.data(generated(call)) }

func generated(call *asked) object {
	part := object{"text": done}
	if call != nil {
		part = object{"functionCall": object{"name": call.name, "args": call.args}}
	}
	return object{"usageMetadata": object{"totalTokenCount": 2}, "candidates": []any{object{"index": 0, "finishReason": "STOP",
		"content": object{"role": "model", "parts": []any{part}}}}}
}
