package report

import (
	"cmp"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// event is what a report needs of a line.
type event struct {
	counts, unreadable bool
	line
	text string // the beginning of what was asked
}

// line is that part of [api.Line], read in one pass: a log has most of its bytes elsewhere.
type line struct {
	DecisionID string    `json:"decision_id"`
	Timestamp  time.Time `json:"timestamp"`
	Path       string    `json:"path"`
	Input      struct {
		Args    api.LineArgs    `json:"args"`
		Session bailiff.Session `json:"session"`
	} `json:"input"`
	Result api.LineResult `json:"result"`
	Custom struct {
		Event       api.EventKind     `json:"event"`
		ExitCode    *int              `json:"exit_code"`
		Backend     string            `json:"backend"`
		Approval    *bailiff.Approval `json:"approval"`
		Connection  *api.Connection   `json:"connection"`
		Nanoseconds int64             `json:"duration_ns"`
	} `json:"custom"`
}

// most is how many characters of a request are shown.
const most = 100

func read(text []byte, since time.Time) (e event) {
	if err := api.ReadWhatFits(text, &e.line); err != nil {
		e.unreadable = true
		return e
	}
	e.counts = !e.Timestamp.Before(since)
	if e.counts && e.Custom.Event == api.DecisionEvent {
		e.text = bailiff.Beginning(e.Input.Args.Text(), most)
	}
	e.Input.Args = api.LineArgs{}
	return e
}

func (e event) person() string { return api.Requester(e.Input.Session) }

// chat is where it was asked.
func (e event) chat() string {
	s := e.Input.Session
	return s.Platform + "/" + cmp.Or(s.ChatID, "none")
}

// rules are those that spoke, each once.
func (e event) rules() (asked, denied []string) {
	return names(e.Result.Approval.Reasons), names(e.Result.Denials)
}

func names(reasons []bailiff.Reason) (rules []string) {
	seen := map[string]bool{}
	for _, r := range reasons {
		if !seen[r.Rule] {
			seen[r.Rule] = true
			rules = append(rules, r.Rule)
		}
	}
	return rules
}
