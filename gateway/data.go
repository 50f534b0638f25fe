package gateway

import (
	"bytes"
	"cmp"
	"context"
	stdjson "encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// ruleInput is the rule of a denial whose input document was not understood.
const (
	ruleInput      = "request.invalid"
	insteadOfInput = "Send a request that has what is missing and nothing that is unknown."
)

// dataResult is an answer of OPA's Data API, version 1.
type dataResult struct {
	DecisionID string         `json:"decision_id,omitempty"`
	Result     jsontext.Value `json:"result,omitzero"`
}

// dataV1 takes {"input": …} and answers {"result": …}.
func (a *agent) dataV1(w http.ResponseWriter, r *http.Request) {
	a.data(w, r, func(body []byte) (jsontext.Value, error) {
		var wire struct {
			Input jsontext.Value `json:"input"`
		}
		err := json.Unmarshal(body, &wire)
		return wire.Input, err
	}, func(w http.ResponseWriter, id string, result jsontext.Value) {
		send(w, http.StatusOK, dataResult{id, result})
	})
}

// dataV0 takes the input document itself and answers with the bare result.
func (a *agent) dataV0(w http.ResponseWriter, r *http.Request) {
	path := r.PathValue("path")
	a.data(w, r, func(body []byte) (input jsontext.Value, err error) {
		err = json.Unmarshal(body, &input)
		return input, err
	}, func(w http.ResponseWriter, _ string, result jsontext.Value) {
		if result == nil {
			refuse(w, problem(http.StatusNotFound, "undefined_document", "The document "+cut(path)+" is undefined for this input."))
			return
		}
		sendBytes(w, http.StatusOK, jsonType, result)
	})
}

// data answers one query of either version; a nil result is undefined.
func (a *agent) data(w http.ResponseWriter, r *http.Request, unwrap func(body []byte) (input jsontext.Value, err error),
	answer func(w http.ResponseWriter, id string, result jsontext.Value)) {
	path := r.PathValue("path")
	if !slices.Contains(a.config.DataPaths, path) {
		refuse(w, problem(http.StatusForbidden, "path_not_allowed", "The document "+cmp.Or(cut(path), "data")+
			" is not served; agent.data_paths lists what is."))
		return
	}
	input, p := readInput(r, unwrap)
	if p != nil {
		refuse(w, p)
		return
	}
	id, result, p := a.document(r.Context(), path, input)
	if p != nil {
		refuse(w, p)
		return
	}
	answer(w, id, result)
}

func readInput(r *http.Request, unwrap func([]byte) (jsontext.Value, error)) (jsontext.Value, *api.Problem) {
	buf := buffers.Get().(*bytes.Buffer)
	defer release(buf)
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return nil, unread(err)
	}
	input, err := unwrap(buf.Bytes())
	if err != nil {
		return nil, misread(err, "")
	}
	if input == nil {
		input = jsontext.Value("null")
	}
	return input, nil
}

// document is what stands at a path for an input. The two decisions are never
// undefined: input that is none is denied.
func (a *agent) document(ctx context.Context, path string, input jsontext.Value) (id string, result jsontext.Value, p *api.Problem) {
	switch path {
	case api.DecisionPath:
		_, decided, p := a.judge(ctx, input, a.readDocument)
		return decided.ID, encode(decided.Decision.ForSender()), p
	case callPath:
		decided, p := a.judgeCall(ctx, input)
		return decided.ID, encode(verdictOf(decided.Decision.ForSender())), p
	}
	req, p := a.readDocument(ctx, input)
	if p == nil {
		req.Peer = userOf(ctx)
		req, p = a.claim(req)
	}
	if p == nil {
		result, p = a.query(ctx, req, path)
	}
	return "", result, p
}

// reader makes a request of an input.
type reader func(ctx context.Context, input jsontext.Value) (bailiff.Request, *api.Problem)

// judge decides about an input.
func (a *agent) judge(ctx context.Context, input jsontext.Value, read reader) (bailiff.Request, bailiff.Decided, *api.Problem) {
	req, p := read(ctx, input)
	if p != nil && p.Code == codeRequest {
		return req, a.config.Enforcer.Refuse(ctx, a.config.Name, bailiff.Reason{Rule: ruleInput, Message: p.Message,
			Instead: insteadOfInput}), nil
	}
	if p == nil {
		req.Peer = userOf(ctx)
		req, p = a.claim(req)
	}
	if p != nil {
		return req, bailiff.Decided{}, p
	}
	defer blame(req)
	return req, a.config.Enforcer.Decide(ctx, req), nil
}

// document is what is taken of an OPA client's input document. Everything else
// in it (command, code, files, time, caller) is computed, not believed.
type document struct {
	Tool    bailiff.Tool    `json:"tool"`
	Args    jsontext.Value  `json:"args"`
	Session bailiff.Session `json:"session"`
	Env     struct {
		Requested []string `json:"requested"`
	} `json:"env"`
	Backend struct {
		Requested string `json:"requested"`
	} `json:"backend"`
}

// readDocument reads a request from an input document of bailiff's own.
func (a *agent) readDocument(_ context.Context, input jsontext.Value) (bailiff.Request, *api.Problem) {
	var d document
	if err := json.Unmarshal(input, &d); err != nil {
		return bailiff.Request{}, misread(err, "")
	}
	wire := received{Tool: d.Tool, Args: d.Args, Session: d.Session, Env: d.Env.Requested, Backend: d.Backend.Requested}
	return wire.request()
}

func (a *agent) query(ctx context.Context, req bailiff.Request, path string) (jsontext.Value, *api.Problem) {
	req, at := a.config.Circumstances(ctx, req)
	result, defined, err := a.config.Evaluator.Query(ctx, req, at, path)
	if err == nil && !defined {
		return nil, nil
	}
	text, err := written(result, err)
	if err != nil {
		return nil, problem(http.StatusInternalServerError, "internal_error", fmt.Sprintf("Evaluating %s failed: %v.", path, err))
	}
	return text, nil
}

// written is what an evaluation came to, as JSON. encoding/json knows the numbers
// of OPA's results.
func written(result any, err error) (jsontext.Value, error) {
	if err != nil {
		return nil, err
	}
	return stdjson.Marshal(result)
}

func encode(document any) jsontext.Value {
	text, err := json.Marshal(document, lenient)
	if err != nil {
		panic(err) // as in send
	}
	return text
}
