package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// past is a decision that was made.
type past struct {
	ID   string
	Time time.Time
	// Input is the input document, as JSON.
	Input  []byte
	Result judgement
	// Connection says that it is about a connection out of a sandbox.
	Connection bool
}

// judgement is what policies answer: a decision or, about a connection, what a decision has
// of it too, and the rest.
type judgement struct {
	bailiff.Decision
	connection connectionTerms
}

// connectionTerms are how a connection that is let through is treated.
type connectionTerms struct {
	Private   bool `json:"private"`
	Intercept bool `json:"intercept"`
	WebSocket bool `json:"websocket"`
}

func ofConnection(j bailiff.ConnectionJudgement) judgement {
	return judgement{bailiff.Decision{Outcome: j.Outcome, Denials: j.Denials, Approval: j.Approval, Revision: j.Revision},
		connectionTerms{j.Private, j.Intercept, j.WebSocket}}
}

// Why a line of a log is not judged.
const (
	skippedEvent      = "event"      // it is no decision
	skippedElsewhere  = "document"   // it is about another document than the decision
	skippedInput      = "input"      // what came was no request
	skippedMasked     = "masked"     // not all of it is in the log
	skippedBailiff    = "bailiff"    // bailiff itself decided, or an operator
	skippedUnreadable = "unreadable" // it is no event at all
	skippedEarlier    = "earlier"    // it was decided before the time that was asked for
)

// parse reads a line. If it is not to be judged, skip says why.
func parse(text []byte) (l api.Line, skip string) {
	l, err := api.ReadLine(text)
	switch {
	case err != nil:
		return l, skippedUnreadable
	case l.Custom.Event == api.ConnectionEvent && l.Path == api.ConnectionPath: // no policy was asked without a path
	case l.Custom.Event != api.DecisionEvent:
		return l, skippedEvent
	case l.Path != api.DecisionPath:
		return l, skippedElsewhere
	}
	if len(l.Input) == 0 || bytes.Equal(l.Input, []byte("null")) {
		return l, skippedInput
	}
	return l, ""
}

// resultOf is what the policies decided then. If the line does not tell, skip
// says why.
func resultOf(l api.Line) (d judgement, skip string) {
	var connection bailiff.ConnectionJudgement
	switch {
	case len(l.Erased)+len(l.Masked) > 0:
		return d, skippedMasked
	case isConnection(l):
		if json.Unmarshal(l.Result, &connection) != nil {
			return d, skippedUnreadable
		}
		return ofConnection(connection), ""
	case json.Unmarshal(l.Result, &d.Decision) != nil:
		return d, skippedUnreadable
	case l.Custom.BreakGlass != nil || decidedByBailiff(d.Decision):
		return d, skippedBailiff
	}
	return d, ""
}

func isConnection(l api.Line) bool { return l.Custom.Event == api.ConnectionEvent }

// decidedByBailiff says whether a denial would have come whatever the policies said.
func decidedByBailiff(d bailiff.Decision) bool {
	for _, denial := range d.Denials {
		switch denial.Rule {
		case bailiff.RuleFrozen, bailiff.RuleProcess, bailiff.RuleVoid, bailiff.RuleBreakGlass:
			return true
		}
		if strings.HasPrefix(denial.Rule, bailiff.RuleGuard) {
			return true
		}
	}
	return false
}

// request is what of a request decides whether the floor bears a decision.
func request(asked api.LineInput) bailiff.Request {
	return bailiff.Request{Tool: asked.Tool, Session: asked.Session, Env: asked.Env.Requested}
}

// destinationOf is where a connection was to lead, as an example of it says.
func destinationOf(input []byte) string {
	var asked struct {
		Connection struct {
			Protocol string `json:"protocol"`
			Host     string `json:"host"`
			Port     int    `json:"port"`
			Method   string `json:"method"`
			Path     string `json:"path"`
		} `json:"connection"`
	}
	_ = json.Unmarshal(input, &asked) // else there is nothing to say
	c := asked.Connection
	return strings.TrimSpace(fmt.Sprintf("%s %s://%s:%d%s", c.Method, c.Protocol, c.Host, c.Port, c.Path))
}
