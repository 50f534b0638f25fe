// Package guard holds one-line conditions, written in CEL: those of bailiff.yaml, which
// are guards, that can only deny a request, and the conditions of approval routes; and
// filters over the decision log.
//
// What is promised: a condition is parsed, type-checked and held against a limit
// of cost when it is compiled; what is wrong with it is a [Fault] with its line
// and column. Evaluating it is bounded by cost and by time. A condition that
// cannot be evaluated never permits anything: a guard then denies and says so,
// a route's, an approver's or a filter's gives an error.
//
// Conditions are pure: they read nothing but the variables named here, and there
// is no clock among their functions, so that what they say of a request may be
// remembered. The request that they see therefore lacks what no judgement
// depends on, its id and how long its caller waits.
//
// A condition of a guard sees "request" (as in /v1/execute, with the "caller"),
// and what the text would do as "command" and "code"; where there is no such
// text, all of their fields are empty. A condition of a route sees "request" and
// "decision", one of approvers "request" and "approver". A filter sees the fields of an
// event under their own names; those that an event lacks are empty.
package guard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts"
)

// Rule is a guard as the configuration has it.
type Rule struct {
	// Name makes the denial's rule, "guard.NAME".
	Name string
	// When is the condition under which a request is denied.
	When string
	// Message tells the requester why; empty means a sentence that names the guard.
	Message string
	// Instead tells the requester what would be allowed; it may be empty.
	Instead string
}

// Guardrails are all guards. The zero value and nil deny nothing. They are safe
// for concurrent use.
type Guardrails struct{ guards []compiled }

type compiled struct {
	Rule
	condition condition
}

// patience is how long all guards together may take for one request.
const patience = 250 * time.Millisecond

// New compiles guards. The error names the guard and is a [*Fault] below.
func New(rules []Rule) (*Guardrails, error) {
	g := &Guardrails{guards: make([]compiled, len(rules))}
	for i, r := range rules {
		c, err := compile(guardScope, r.When)
		if err != nil {
			return nil, fmt.Errorf("compiling guard %s: %w", r.Name, err)
		}
		g.guards[i] = compiled{r, c}
	}
	return g, nil
}

// Valid is nil for a text that can be a guard's condition, else a [*Fault].
func Valid(when string) error {
	_, err := compile(guardScope, when)
	return err
}

// Check returns a denial for each guard that speaks against a request. Command
// and code are the facts of its text, nil where there are none. The error says
// which guards could not be evaluated; they are among the denials, but another
// time they may say something else.
func (g *Guardrails) Check(ctx context.Context, req bailiff.Request, command *facts.Command, code *facts.Code) (denials []bailiff.Reason,
	fault error) {
	if g == nil || len(g.guards) == 0 {
		return nil, nil
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	variables := map[string]any{"request": requestOf(req), "command": orEmpty(command), "code": orEmpty(code)}
	for _, guard := range g.guards {
		denies, err := guard.condition.holds(ctx, variables)
		switch {
		case err != nil:
			fault = errors.Join(fault, fmt.Errorf("evaluating guard %s: %w", guard.Name, err))
			denials = append(denials, guard.denial("Guard "+guard.Name+" could not be evaluated, so it denies: "+err.Error()+"."))
		case denies:
			denials = append(denials, guard.denial(guard.Message))
		}
	}
	return denials, fault
}

func (r Rule) denial(message string) bailiff.Reason {
	if message == "" {
		message = "Guard " + r.Name + " of the configuration forbids this."
	}
	return bailiff.Reason{Rule: bailiff.RuleGuard + r.Name, Message: message, Instead: r.Instead}
}

func orEmpty[T any](facts *T) *T {
	if facts == nil {
		return new(T)
	}
	return facts
}

// ClaimCondition says which claims a route takes.
type ClaimCondition struct{ condition condition }

// OfClaim compiles the condition of a route. The error is a [*Fault].
func OfClaim(when string) (*ClaimCondition, error) {
	c, err := compile(claimScope, when)
	return &ClaimCondition{c}, err
}

// Holds says whether the condition holds for a claim.
func (c *ClaimCondition) Holds(claim bailiff.Claim) (bool, error) {
	return c.condition.holdsInTime(map[string]any{"request": requestOf(claim.Request), "decision": decisionOf(claim.Decision)})
}

// ApproverCondition says who may answer.
type ApproverCondition struct{ condition condition }

// OfApprover compiles the condition on approvers. The error is a [*Fault].
func OfApprover(text string) (*ApproverCondition, error) {
	c, err := compile(approverScope, text)
	return &ApproverCondition{c}, err
}

// Holds says whether the condition holds for an approver who would answer a request.
func (c *ApproverCondition) Holds(who Approver, req bailiff.Request) (bool, error) {
	return c.condition.holdsInTime(map[string]any{"request": requestOf(req), "approver": &who})
}
