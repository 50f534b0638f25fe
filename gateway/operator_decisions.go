package gateway

import (
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
)

// loggedText is how many bytes of a text an event in short has.
const loggedText = 1000

func (o *operator) decisions(w http.ResponseWriter, r *http.Request) {
	session, limit := "", pageLength
	if p := readQuery(r, fields{"session": text(&session), "limit": number(&limit, 1, pageAtMost)}); p != nil {
		p.write(w)
		return
	}
	send(w, http.StatusOK, Decisions{readLines(o.Decisions.Recent(session, limit))})
}

// line is what is taken of a line of the decision log.
type line struct {
	DecisionID  string         `json:"decision_id"`
	Timestamp   time.Time      `json:"timestamp"`
	RequestedBy string         `json:"requested_by"`
	Custom      bailiff.Custom `json:"custom"`
	Input       jsontext.Value `json:"input"`
	Result      jsontext.Value `json:"result"`
}

// lineInput and lineResult are what the policies left of input and result: a mask
// can give them any shape, so that what does not fit is left out.
type (
	lineInput struct {
		Session bailiff.Session `json:"session"`
		Tool    bailiff.Tool    `json:"tool"`
		Args    bailiff.Asked   `json:"args"`
	}
	lineResult struct {
		Outcome  string           `json:"outcome"`
		Denials  []bailiff.Reason `json:"denials"`
		Approval struct {
			Reasons []bailiff.Reason `json:"reasons"`
		} `json:"approval"`
	}
)

func readLines(lines [][]byte) []Logged {
	list := make([]Logged, 0, len(lines))
	for _, text := range lines {
		if event, ok := readLine(text); ok {
			list = append(list, event)
		}
	}
	return list
}

// readLine puts a line of the decision log in short.
func readLine(text []byte) (Logged, bool) {
	var l line
	if err := json.Unmarshal(text, &l, jsontext.AllowInvalidUTF8(true)); err != nil {
		return Logged{}, false // lines are written by this program
	}
	var input lineInput
	var result lineResult
	_ = json.Unmarshal(l.Input, &input, jsontext.AllowInvalidUTF8(true))
	_ = json.Unmarshal(l.Result, &result, jsontext.AllowInvalidUTF8(true))
	c := l.Custom
	event := Logged{
		DecisionID: l.DecisionID, Timestamp: l.Timestamp, Event: c.Event, Caller: l.RequestedBy, Session: c.Session,
		Platform: input.Session.Platform, User: input.Session.UserID, Tool: input.Tool,
		Text: bailiff.Beginning(input.Args.Text(), loggedText), Outcome: result.Outcome,
		Status: c.Status, ExitCode: c.ExitCode, Backend: c.Backend, Message: c.Message, Approval: c.Approval,
	}
	for _, reason := range append(result.Denials, result.Approval.Reasons...) {
		event.Rules = append(event.Rules, reason.Rule)
	}
	return event, true
}
