package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Past is a decision that was made.
type Past struct {
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

// event is what is read of a line.
type event struct {
	DecisionID string          `json:"decision_id"`
	Timestamp  time.Time       `json:"timestamp"`
	Path       string          `json:"path"`
	Input      json.RawMessage `json:"input"`
	Result     json.RawMessage `json:"result"`
	Erased     []string        `json:"erased"`
	Masked     []string        `json:"masked"`
	Custom     struct {
		Event      bailiff.EventKind `json:"event"`
		BreakGlass json.RawMessage   `json:"break_glass"`
	} `json:"custom"`
}

// parse reads a line. If it is not to be judged, skip says why.
func parse(text []byte) (e event, skip string) {
	if err := json.Unmarshal(text, &e); err != nil {
		return e, unreadable(text)
	}
	switch {
	case e.Custom.Event != bailiff.DecisionEvent:
		return e, skippedEvent
	case e.Path != bailiff.DecisionPath:
		return e, skippedElsewhere
	case len(e.Input) == 0 || bytes.Equal(e.Input, []byte("null")):
		return e, skippedInput
	}
	return e, ""
}

// unreadable says why a line is not what it should be: a mask may have put anything in
// the place of anything.
func unreadable(text []byte) (skip string) {
	var e struct{ Erased, Masked []string }
	if json.Unmarshal(text, &e) == nil && len(e.Erased)+len(e.Masked) > 0 {
		return skippedMasked
	}
	return skippedUnreadable
}

// decided reads what the policies decided then. If the line does not tell, skip
// says why.
func (e event) decided() (d bailiff.Decision, skip string) {
	switch {
	case len(e.Erased)+len(e.Masked) > 0:
		return d, skippedMasked
	case json.Unmarshal(e.Result, &d) != nil:
		return d, skippedUnreadable
	case len(e.Custom.BreakGlass) > 0 || decidedByBailiff(d):
		return d, skippedBailiff
	}
	return d, ""
}

// decidedByBailiff says whether a denial would have come whatever the policies said.
func decidedByBailiff(d bailiff.Decision) bool {
	for _, denial := range d.Denials {
		switch rule := denial.Rule; {
		case strings.HasPrefix(rule, "guard."), rule == "floor.frozen", rule == "floor.process",
			rule == "approval.void", rule == "break_glass.no_terms":
			return true
		}
	}
	return false
}

// asked is what is read of an input document, for people and for the floor.
type asked struct {
	Tool    bailiff.Tool    `json:"tool"`
	Args    bailiff.Asked   `json:"args"`
	Session bailiff.Session `json:"session"`
	Env     struct {
		Requested []string `json:"requested"`
	} `json:"env"`
	Backend struct {
		Available map[string]bailiff.BackendState `json:"available"`
	} `json:"backend"`
}

// request is what of a request decides whether the floor bears a decision.
func (a asked) request() bailiff.Request {
	return bailiff.Request{Tool: a.Tool, Session: a.Session, Env: a.Env.Requested}
}

// user names who asked, as far as the log knows.
func (a asked) user() string {
	return a.Session.Platform + "/" + cmp.Or(a.Session.UserID, a.Session.UserName, "unknown")
}
