package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

const (
	// callPath is where agents' tool kits look for a verdict on a tool call, to
	// which nothing defined means that they need not care. So it is always the
	// decision, in their words.
	callPath = "agent/call/decision"
	// askedPath is where the policies read a tool call in a kit's words.
	askedPath = "agent/call/asked"
)

// ruleElsewhere is the rule of a denial of what might run, but not where its tool does.
const (
	ruleElsewhere      = "backend.elsewhere"
	insteadOfElsewhere = "Have the tool hand it to bailiff."
)

// verdict is a decision as agents' tool kits know it.
type verdict struct {
	// Decision is "allow", "requires-approval" or "deny".
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
}

// verdictOf is a decision in the words of kits. The policies word it in the same way
// for stock OPA.
func verdictOf(d bailiff.Decision) verdict {
	switch d.Outcome {
	case bailiff.Allow:
		return verdict{Decision: "allow"}
	case bailiff.Ask:
		if d.Approval != nil {
			return verdict{"requires-approval", sentences(d.Approval.Reasons)}
		}
		return verdict{Decision: "requires-approval"}
	}
	return verdict{"deny", sentences(d.Denials)}
}

// sentences are what was found, by which rules, and what would be allowed instead, each
// once. What the policies found where is in the decision.
func sentences(reasons []bailiff.Reason) string {
	var found, instead []string
	for _, r := range reasons {
		if r.Hidden {
			found = append(found, r.Message)
			continue
		}
		found = append(found, strings.TrimSuffix(r.Message, ".")+" ("+r.Rule+").")
		if r.Instead != "" {
			instead = append(instead, r.Instead)
		}
	}
	said := once(found)
	if len(instead) > 0 {
		said = append(append(said, "Instead:"), once(instead)...)
	}
	return strings.Join(said, " ")
}

func once(sentences []string) []string {
	slices.Sort(sentences)
	return slices.Compact(sentences)
}

// judgeCall decides about a tool call. The caller runs the tool itself, so that
// what may run in another place than the one named may not run.
func (a *agent) judgeCall(ctx context.Context, input jsontext.Value) (bailiff.Decided, *api.Problem) {
	read := a.readDocument
	if isKits(input) {
		read = a.readCall
	}
	req, decided, p := a.judge(ctx, input, read)
	place := decided.Decision.Backend.Name
	if decided.Decision.Outcome == bailiff.Deny || req.Backend == "" || req.Backend == place {
		return decided, p
	}
	return a.config.Enforcer.Refuse(ctx, a.config.Name, bailiff.Reason{Rule: ruleElsewhere, Instead: insteadOfElsewhere,
		Message: fmt.Sprintf(
			"It would run on %s, and the policies let it run on %s only.", cut(req.Backend), place)}), nil
}

// isKits tells a call in the words of a kit, where the tool is an object, from an
// input document of bailiff's own.
func isKits(input jsontext.Value) bool {
	var wire struct {
		Tool jsontext.Value `json:"tool"`
	}
	return json.Unmarshal(input, &wire) == nil && wire.Tool.Kind() == '{'
}

// readCall reads a request from a tool call, as the policies understand it.
func (a *agent) readCall(ctx context.Context, input jsontext.Value) (bailiff.Request, *api.Problem) {
	result, defined, err := a.config.Evaluator.Read(ctx, input, askedPath)
	text, err := written(result, err)
	switch {
	case err != nil:
		return bailiff.Request{}, refusalProblem(codeRequest, []api.Fault{{At: "", Message: err.Error()}})
	case !defined:
		return bailiff.Request{}, refusalProblem(codeRequest,
			[]api.Fault{{At: "", Message: "the policies do not say how to read a call: " + askedPath + " is undefined"}})
	}
	asked := struct {
		Request jsontext.Value `json:"request"`
		Faults  []string       `json:"faults"`
	}{Request: jsontext.Value("null")} // in which everything is missing
	if err := json.Unmarshal(text, &asked, strict); err != nil {
		return bailiff.Request{}, misread(err, "/asked")
	}
	if len(asked.Faults) > 0 {
		return bailiff.Request{}, refusalProblem(codeRequest, faultsOf(asked.Faults))
	}
	return parse(asked.Request)
}

func faultsOf(clauses []string) []api.Fault {
	faults := make([]api.Fault, len(clauses))
	for i, clause := range clauses {
		faults[i] = api.Fault{At: "", Message: clause}
	}
	return faults
}
