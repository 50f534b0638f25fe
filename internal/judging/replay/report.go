package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Report is what came of a replay. Its lists are in the order in which the log first
// had each, the most frequent first.
type Report struct {
	// Revision is that of the policies on trial, Against the one that they are
	// compared with; empty means what was logged.
	Revision string `json:"revision"`
	Against  string `json:"against"`
	// First and Last are when the first and the last decision were made.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Judged counts decisions, Changed those that differ; Looser and Stricter those of
	// them with a difference of that direction, which a decision can be both.
	Judged   int `json:"judged"`
	Changed  int `json:"changed"`
	Looser   int `json:"looser"`
	Stricter int `json:"stricter"`
	// Outcomes counts the decisions by what they were and would be.
	Outcomes []Shift  `json:"outcomes"`
	Changes  []Change `json:"changes"`
	// Skipped counts the lines that were not judged.
	Skipped []Skip `json:"skipped"`
}

// Shift is an outcome, and what it would be.
type Shift struct {
	From      bailiff.Outcome `json:"from"`
	To        bailiff.Outcome `json:"to"`
	Decisions int             `json:"decisions"`
}

// Change is a difference that some decisions have in common.
type Change struct {
	api.Difference
	// Rules are those that say no, or ask, on the stricter side of an outcome's change.
	Rules     []string `json:"rules"`
	Decisions int      `json:"decisions"`
	// Users are the first of those who asked, each as platform/id; there are
	// UserCount, or more where that is the bound.
	Users     []string  `json:"users"`
	UserCount int       `json:"user_count"`
	Examples  []Example `json:"examples"`
}

// String says the difference and who is behind it.
func (c Change) String() string { return differenceText(c.Difference, c.Rules) }

// Example is one of the decisions.
type Example struct {
	DecisionID string    `json:"decision_id"`
	Time       time.Time `json:"time"`
	User       string    `json:"user"`
	Tool       string    `json:"tool"`
	// Text is the beginning of the command or code.
	Text string `json:"text"`
	// Message is what the stricter side says first.
	Message string `json:"message"`
}

// Skip is why lines were not judged.
type Skip struct {
	Why   string `json:"why"`
	Lines int    `json:"lines"`
	// File and Line are where the first of them stands.
	File string `json:"file"`
	Line int    `json:"line"`
}

// Unreadable is about the lines that are no events, if there are any.
func (r Report) Unreadable() (about Skip, found bool) {
	at := slices.IndexFunc(r.Skipped, func(s Skip) bool { return s.Why == skippedUnreadable })
	if at < 0 {
		return about, false
	}
	return r.Skipped[at], true
}

func (s Skip) String() string {
	return fmt.Sprintf("%d %s", s.Lines, map[string]string{
		skippedEvent:      "of other events",
		skippedElsewhere:  "about other documents",
		skippedInput:      "of what was no request",
		skippedMasked:     "masked",
		skippedBailiff:    "decided by bailiff itself or an operator",
		skippedUnreadable: "that cannot be read",
		skippedEarlier:    "of before",
	}[s.Why])
}
