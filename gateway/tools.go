package gateway

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
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

func (a *agent) registerTools(r *http.Request) (any, *api.Problem) {
	var wish api.Tools
	p := readBody(r, &wish)
	if p == nil {
		p = problemOf(toolFaults(r.PathValue("id"), wish.Tools))
	}
	if p != nil {
		return nil, p
	}
	if err := a.config.Tools.RegisterTools(a.config.Name, r.PathValue("id"), wish.Tools); err != nil {
		return nil, problem(http.StatusServiceUnavailable, "busy", bailiff.Sentence(err.Error()))
	}
	return nil, nil
}

func problemOf(faults []api.Fault) *api.Problem {
	if len(faults) == 0 {
		return nil
	}
	return refusalProblem(codeRequest, faults)
}

func toolFaults(session string, names []string) []api.Fault {
	var c checker
	c.short("", session, longestSession)
	if names == nil {
		c.fault("/tools", "is missing; an empty list is none")
	}
	if len(names) > bailiff.MaxOwnTools {
		c.fault("/tools", "names %d tools, want at most %d", len(names), bailiff.MaxOwnTools)
		return c.faults
	}
	seen := map[string]bool{}
	for i, name := range names {
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

func (a *agent) answerTool(r *http.Request) (any, *api.Problem) {
	var answer api.ToolAnswer
	p := readBody(r, &answer)
	if p == nil {
		p = problemOf(answerFaults(answer))
	}
	if p != nil {
		return nil, p
	}
	id := r.PathValue("id")
	if err := a.config.Tools.AnswerTool(a.config.Name, id, resultOf(answer), answer.Error != nil); err != nil {
		return nil, problem(http.StatusNotFound, "tool_call_unknown",
			fmt.Sprintf("No call %s waits for an answer: it was answered, or its script has ended.", cut(id)))
	}
	return nil, nil
}

func answerFaults(t api.ToolAnswer) []api.Fault {
	switch {
	case t.Result == nil && t.Error == nil:
		return []api.Fault{{At: "", Message: "holds neither result nor error"}}
	case t.Result != nil && t.Error != nil:
		return []api.Fault{{At: "/error", Message: "is there beside a result, want one of the two"}}
	}
	return nil
}

func resultOf(t api.ToolAnswer) string {
	if t.Error != nil {
		return *t.Error
	}
	return string(t.Result)
}
