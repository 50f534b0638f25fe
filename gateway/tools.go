package gateway

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
)

// Toolbox lets scripts call tools of the agent's own: the agent says which it
// has, is told of a call as its request runs, and answers that. Both are for the
// caller's own sessions and calls only.
type Toolbox interface {
	// RegisterTools replaces the names of a session's tools. An error says that
	// there is no room to remember them.
	RegisterTools(caller, session string, names []string) error
	// AnswerTool gives a script what its call came to: the text of a JSON value, or
	// what went wrong, in words. An error says that no call of that id waits.
	AnswerTool(caller, id, result string, isError bool) error
}

// Tools is the body of POST /v1/sessions/{id}/tools.
type Tools struct {
	Tools []string `json:"tools"`
}

// ToolCall is an event of a stream: a script's call of a tool of the agent's own.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments are an object.
	Arguments jsontext.Value `json:"arguments"`
}

// ToolAnswer is the body of POST /v1/tool_calls/{id}; one of the two is there.
type ToolAnswer struct {
	// Result is any value.
	Result jsontext.Value `json:"result,omitempty"`
	// Error says in words why there is none.
	Error *string `json:"error,omitempty"`
}

func (a *agent) registerTools(w http.ResponseWriter, r *http.Request) {
	var wish Tools
	p := readBody(r, &wish)
	if p == nil {
		p = problemOf(wish.faults(r.PathValue("id")))
	}
	if p == nil {
		p = roomless(a.config.Tools.RegisterTools(a.config.Name, r.PathValue("id"), wish.Tools))
	}
	if p != nil {
		p.write(w)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func problemOf(faults []Fault) *Problem {
	if len(faults) == 0 {
		return nil
	}
	return refused(codeRequest, faults)
}

func roomless(err error) *Problem {
	if err == nil {
		return nil
	}
	return problem(http.StatusServiceUnavailable, "busy", bailiff.Sentence(err.Error()))
}

func (t Tools) faults(session string) []Fault {
	var c checker
	c.short("", session, longestSession)
	if t.Tools == nil {
		c.fault("/tools", "is missing; an empty list is none")
	}
	if len(t.Tools) > bailiff.MaxOwnTools {
		c.fault("/tools", "names %d tools, want at most %d", len(t.Tools), bailiff.MaxOwnTools)
		return c.faults
	}
	seen := map[string]bool{}
	for i, name := range t.Tools {
		at := "/tools/" + strconv.Itoa(i)
		switch {
		case !bailiff.IsOwnTool(name):
			c.fault(at, "want up to 64 of a-z, 0-9 and _, a letter first, and no tool of bailiff's, is %q", cut(name))
		case seen[name]:
			c.fault(at, "%s is named twice", name)
		}
		seen[name] = true
	}
	return c.faults
}

func (a *agent) answerTool(w http.ResponseWriter, r *http.Request) {
	var answer ToolAnswer
	p := readBody(r, &answer)
	if p == nil {
		p = problemOf(answer.faults())
	}
	if p != nil {
		p.write(w)
		return
	}
	id := r.PathValue("id")
	if err := a.config.Tools.AnswerTool(a.config.Name, id, answer.text(), answer.Error != nil); err != nil {
		problem(http.StatusNotFound, "tool_call_unknown", fmt.Sprintf("No call %s waits for an answer: it was answered, or its script has ended.", cut(id))).write(w)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (t ToolAnswer) faults() []Fault {
	switch {
	case t.Result == nil && t.Error == nil:
		return []Fault{{"", "holds neither result nor error"}}
	case t.Result != nil && t.Error != nil:
		return []Fault{{"/error", "is there beside a result, want one of the two"}}
	}
	return nil
}

func (t ToolAnswer) text() string {
	if t.Error != nil {
		return *t.Error
	}
	return string(t.Result)
}
