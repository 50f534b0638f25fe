// Package report sums up what a decision log tells of a stretch of time, for a person who decides about policies: what ran where, what
// was asked and denied, by rule, chat and person, how people answered, where connections led, and which rules asked in vain.
//
// Promised: every line from the first moment on is counted, in lists or under "others", and what is held in memory does not grow with
// the log: each list has its bound. Texts of requests are cut, and are texts wherever they are shown.
//
// Not here: whether the log is sound ([audit.Verify]), and what other policies would decide (package replay).
package report

import (
	"context"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// Report is what a log tells. Its lists are sorted by what matters most first, and end with Others where there was more to name.
type Report struct {
	// Since is the moment from which events count; First and Last are when the first and the last of them were written, zero without any.
	Since time.Time `json:"since"`
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Lines counts the events, Unreadable the lines of the whole log that are none.
	Lines      int `json:"lines"`
	Unreadable int `json:"unreadable"`
	// Requests are the decisions of all.
	Requests Outcomes `json:"requests"`
	Places   []Place  `json:"places"`
	Rules    []Rule   `json:"rules"`
	// Observed are the rules that were only observed, ObservedRequests how many requests they were about.
	Observed         []Observed  `json:"observed"`
	ObservedRequests int         `json:"observed_requests"`
	Chats            []Requester `json:"chats"`
	People           []Requester `json:"people"`
	Approvers        []Approver  `json:"approvers"`
	Hosts            []Host      `json:"hosts"`
	// InVain are the rules that asked at least [enough] times and heard nothing but yes: the first to look at for a false alarm.
	InVain []Rule `json:"in_vain"`
}

// Others is the name under which a list counts what it has no room to name.
const Others = "others"

// Outcomes count decisions.
type Outcomes struct {
	Allowed int `json:"allowed"`
	Asked   int `json:"asked"`
	Denied  int `json:"denied"`
	// Hidden are those whose outcome a mask took.
	Hidden int `json:"hidden"`
}

func (o Outcomes) all() int { return o.Allowed + o.Asked + o.Denied + o.Hidden }

// Place is where commands ran: a backend.
type Place struct {
	Backend string `json:"backend"`
	Runs    int    `json:"runs"`
	// Failed counts those that ended with another exit status than 0.
	Failed  int     `json:"failed"`
	Seconds float64 `json:"seconds"`
}

// Rule is what a rule of the policies said, and what people made of it.
type Rule struct {
	Rule   string `json:"rule"`
	Asked  int    `json:"asked"`
	Denied int    `json:"denied"`
	// Yes, No and Unanswered are how its questions ended; a request that a grant covered was not put to anyone.
	Yes        int `json:"yes"`
	No         int `json:"no"`
	Unanswered int `json:"unanswered"`
	// Examples are the first requests of it, cut.
	Examples []string `json:"examples"`
}

// Observed is a rule that neither asked nor denied, and what would have become of the requests without that.
type Observed struct {
	Rule string `json:"rule"`
	// Asked and Denied are what would have become of them.
	Asked  int `json:"asked"`
	Denied int `json:"denied"`
	// Examples are the first of them, cut.
	Examples []string `json:"examples"`
}

// Requester is a chat or a person, as platform/id.
type Requester struct {
	Name string `json:"name"`
	Outcomes
	// Questions counts those that were put to people, MostADay the most of a day, which is Day (UTC).
	Questions int    `json:"questions"`
	MostADay  int    `json:"most_a_day"`
	Day       string `json:"day,omitempty"`
}

// Approver is how a person answered.
type Approver struct {
	Name string `json:"name"`
	Yes  int    `json:"yes"`
	No   int    `json:"no"`
	// Seconds is the median of how long a yes took, Quick counts those within [quick].
	Seconds int `json:"seconds"`
	Quick   int `json:"quick"`
}

// Host is where connections out of sandboxes led.
type Host struct {
	Host     string `json:"host"`
	Opened   int    `json:"opened"`
	Refused  int    `json:"refused"`
	Sent     int64  `json:"sent"`
	Received int64  `json:"received"`
}

const (
	// quick is a yes that was hardly read, in seconds.
	quick = 5
	// enough are as many answers as make a rule that heard nothing but yes one to look at.
	enough = 5
)

// Of reads the logs at the paths, which are those of [audit.Read], from a moment on.
func Of(ctx context.Context, paths []string, since time.Time) (Report, error) {
	t := newTally(since)
	err := audit.Map(ctx, paths, func(_ audit.Place, text []byte) event { return read(text, since) }, t.add)
	if err != nil {
		return Report{}, fmt.Errorf("summing up a decision log: %w", err)
	}
	return t.report(), nil
}
