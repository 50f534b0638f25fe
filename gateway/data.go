package gateway

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
)

const (
	// decisionPath is the document that every request is judged by. Asked for by
	// OPA's Data API, it goes the way of /v1/decide and is logged like it.
	decisionPath = "bailiff/decision"
	// callPath is where agents' tool kits look for a verdict on a tool call, to
	// which nothing defined means that they need not care. So where the policies
	// define nothing there, the decision stands there as a verdict.
	callPath = "agent/call/decision"
)

// ruleInput is the rule of a denial whose input document was not understood.
const ruleInput = "request.invalid"

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

func (d *document) request() (bailiff.Request, *Problem) {
	wire := received{Tool: d.Tool, Args: d.Args, Session: d.Session, Env: d.Env.Requested, Backend: d.Backend.Requested}
	return wire.request()
}

// dataResult is an answer of OPA's Data API, version 1.
type dataResult struct {
	DecisionID string         `json:"decision_id,omitempty"`
	Result     jsontext.Value `json:"result,omitzero"`
}

// dataV1 takes {"input": …} and answers {"result": …}.
func (a *agent) dataV1(w http.ResponseWriter, r *http.Request) {
	a.data(w, r, func(body []byte) (d document, err error) {
		var wire struct {
			Input document `json:"input"`
		}
		err = json.Unmarshal(body, &wire)
		return wire.Input, err
	}, func(w http.ResponseWriter, id string, result jsontext.Value) {
		send(w, http.StatusOK, dataResult{id, result})
	})
}

// dataV0 takes the input document itself and answers with the bare result.
func (a *agent) dataV0(w http.ResponseWriter, r *http.Request) {
	path := r.PathValue("path")
	a.data(w, r, func(body []byte) (d document, err error) {
		err = json.Unmarshal(body, &d)
		return d, err
	}, func(w http.ResponseWriter, _ string, result jsontext.Value) {
		if result == nil {
			problem(http.StatusNotFound, "undefined_document", "The document "+cut(path)+" is undefined for this input.").write(w)
			return
		}
		sendBytes(w, http.StatusOK, jsonType, result)
	})
}

// data answers one query of either version; a nil result is undefined.
func (a *agent) data(w http.ResponseWriter, r *http.Request, read func([]byte) (document, error),
	answer func(w http.ResponseWriter, id string, result jsontext.Value)) {
	path := r.PathValue("path")
	if !slices.Contains(a.DataPaths, path) {
		problem(http.StatusForbidden, "path_not_allowed", "The document "+cut(path)+" is not served; agent.data_paths lists what is.").write(w)
		return
	}
	req, p := a.readDocument(r, read)
	decides := path == decisionPath || path == callPath
	if decides && p != nil && p.Code == codeRequest {
		decided := a.Enforcer.Refuse(a.Name, ruleInput, p.Message)
		answer(w, decided.ID, worded(path, decided.Decision))
		return
	}
	var result jsontext.Value
	if p == nil && path != decisionPath {
		result, p = a.query(r, req, path)
	}
	if p != nil {
		p.write(w)
		return
	}
	if result != nil || !decides {
		answer(w, "", result)
		return
	}
	decided := a.Enforcer.Decide(r.Context(), req)
	answer(w, decided.ID, worded(path, decided.Decision))
}

// verdict is a decision as agents' tool kits know it.
type verdict struct {
	// Decision is "allow", "requires-approval" or "deny".
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
}

// worded is a decision as the document at the path.
func worded(path string, d bailiff.Decision) jsontext.Value {
	d = d.Told()
	if path == decisionPath {
		return encoded(d)
	}
	switch d.Outcome {
	case bailiff.Allow:
		return encoded(verdict{Decision: "allow"})
	case bailiff.Ask:
		if d.Approval != nil {
			return encoded(verdict{"requires-approval", messages(d.Approval.Reasons)})
		}
		return encoded(verdict{Decision: "requires-approval"})
	}
	return encoded(verdict{"deny", messages(d.Denials)})
}

func messages(reasons []bailiff.Reason) string {
	list := make([]string, len(reasons))
	for i, r := range reasons {
		list[i] = r.Message
	}
	return strings.Join(list, " ")
}

func (a *agent) readDocument(r *http.Request, read func([]byte) (document, error)) (bailiff.Request, *Problem) {
	buf := buffers.Get().(*bytes.Buffer)
	defer release(buf)
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return bailiff.Request{}, unread(err)
	}
	d, err := read(buf.Bytes())
	if err != nil {
		return bailiff.Request{}, misread(err, "")
	}
	req, p := d.request()
	if p != nil {
		return req, p
	}
	return a.claim(req)
}

func (a *agent) query(r *http.Request, req bailiff.Request, path string) (jsontext.Value, *Problem) {
	result, defined, err := a.Evaluator.Query(r.Context(), req, a.Circumstances(req), path)
	if err == nil && !defined {
		return nil, nil
	}
	var text []byte
	if err == nil {
		text, err = stdjson.Marshal(result) // knows the numbers of OPA's results
	}
	if err != nil {
		return nil, problem(http.StatusInternalServerError, "internal_error", fmt.Sprintf("Evaluating %s failed: %v.", path, err))
	}
	return text, nil
}

func encoded(document any) jsontext.Value {
	text, err := json.Marshal(document, lenient)
	if err != nil {
		panic(err) // as in send
	}
	return text
}
