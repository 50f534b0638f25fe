package gateway

import (
	"net/http"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// loggedText is how many bytes of a text an event in short has.
const loggedText = 1000

func (o *operator) decisions(r *http.Request) (any, *api.Problem) {
	session, limit := "", pageLength
	if p := readQuery(r, fields{"session": text(&session), "limit": number(&limit, 1, pageAtMost)}); p != nil {
		return nil, p
	}
	return api.Decisions{Decisions: readLines(o.config.Decisions.Recent(session, limit))}, nil
}

func readLines(lines [][]byte) []api.Logged {
	list := make([]api.Logged, 0, len(lines))
	for _, text := range lines {
		if event, ok := readLine(text); ok {
			list = append(list, event)
		}
	}
	return list
}

// readLine puts a line of the decision log in short.
func readLine(text []byte) (api.Logged, bool) {
	l, err := api.ReadLine(text)
	if err != nil {
		return api.Logged{}, false // lines are written by this program
	}
	c, input, result := l.Custom, l.ReadInput(), l.ReadResult()
	event := api.Logged{
		DecisionID: l.DecisionID, Timestamp: l.Timestamp, Event: c.Event, Caller: l.RequestedBy, Session: c.Session, Agent: c.Agent,
		Platform: input.Session.Platform, User: input.Session.UserID, Tool: input.Tool,
		Text: bailiff.Beginning(input.Args.Text(), loggedText), Outcome: result.Outcome,
		Status: c.Status, ExitCode: c.ExitCode, Backend: c.Backend, Message: c.Message, Approval: c.Approval,
		Kept: len(c.Snapshot) > 0 || c.Undo != nil, Observed: result.Observed, WithoutObserve: result.WithoutObserve,
	}
	for _, reason := range append(result.Denials, result.Approval.Reasons...) {
		event.Rules = append(event.Rules, reason.Rule)
	}
	return event, true
}
