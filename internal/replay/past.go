package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
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
	Result bailiff.Decision
}

// Why a line of a log is not judged.
const (
	skippedEvent      = "event"      // it is no decision
	skippedElsewhere  = "document"   // it is about another document than the decision
	skippedInput      = "input"      // what came was no request
	skippedMasked     = "masked"     // not all of it is in the log
	skippedBailiff    = "bailiff"    // bailiff itself decided, or an operator
	skippedUnreadable = "unreadable" // it is no event at all
)

// parse reads a line. If it is not to be judged, skip says why.
func parse(text []byte) (l api.Line, skip string) {
	l, err := api.ReadLine(text)
	switch {
	case err != nil:
		return l, skippedUnreadable
	case l.Custom.Event != api.DecisionEvent:
		return l, skippedEvent
	case l.Path != api.DecisionPath:
		return l, skippedElsewhere
	case len(l.Input) == 0 || bytes.Equal(l.Input, []byte("null")):
		return l, skippedInput
	}
	return l, ""
}

// resultOf is what the policies decided then. If the line does not tell, skip
// says why.
func resultOf(l api.Line) (d bailiff.Decision, skip string) {
	switch {
	case len(l.Erased)+len(l.Masked) > 0:
		return d, skippedMasked
	case json.Unmarshal(l.Result, &d) != nil:
		return d, skippedUnreadable
	case l.Custom.BreakGlass != nil || decidedByBailiff(d):
		return d, skippedBailiff
	}
	return d, ""
}

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

// user names who asked, as far as the log knows.
func user(asked api.LineInput) string {
	return asked.Session.Platform + "/" + cmp.Or(asked.Session.UserID, asked.Session.UserName, "unknown")
}
