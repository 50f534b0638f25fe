package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// What a report holds at most, whatever the log holds.
const (
	maxChanges  = 500
	maxExamples = 3
	maxUsers    = 1000
	shownUsers  = 10
	maxText     = 200
)

// tally sums findings up.
type tally struct {
	Report
	// against says that the decisions compared with are not those that were logged.
	against bool
	changes map[string]*sum
	order   []*sum
	shifts  map[[2]bailiff.Outcome]int
	skips   map[string]*Skip
}

// sum is a change that is being summed up.
type sum struct {
	Change
	users map[string]bool
}

func newTally(against bool) *tally {
	return &tally{against: against, changes: map[string]*sum{}, shifts: map[[2]bailiff.Outcome]int{}, skips: map[string]*Skip{}}
}

func (t *tally) addOne(f finding) {
	if f.skip != "" {
		t.skip(f)
		return
	}
	t.add(f)
}

func (t *tally) skip(f finding) {
	s := t.skips[f.skip]
	if s == nil {
		s = &Skip{Why: f.skip, File: f.File, Line: f.Number}
		t.skips[f.skip] = s
	}
	s.Lines++
}

func (t *tally) add(f finding) {
	t.Judged++
	if t.First.IsZero() {
		t.First = f.time
	}
	t.Last = f.time
	t.Revision = f.Now.Revision
	if t.against {
		t.Against = f.Was.Revision
	}
	t.shifts[[2]bailiff.Outcome{f.Was.Outcome, f.Now.Outcome}]++
	if len(f.Differences) == 0 {
		return
	}
	t.Changed++
	if f.leads(api.Looser) {
		t.Looser++
	}
	if f.leads(api.Stricter) {
		t.Stricter++
	}
	for _, d := range f.Differences {
		t.change(d, f).add(f)
	}
}

// leads says whether any difference leads there.
func (v verdict) leads(to api.Direction) bool {
	return slices.ContainsFunc(v.Differences, func(d api.Difference) bool { return d.Direction == to })
}

// change is the sum that a difference belongs to. Differences of which there are too
// many kinds are summed up by what they are about.
func (t *tally) change(d api.Difference, f finding) *sum {
	rules := []string{}
	if d.What == "outcome" {
		rules = rulesOf(f.stricter())
	}
	key := strings.Join(append([]string{d.What, d.From, d.To, string(d.Direction)}, rules...), "\x00")
	if s := t.changes[key]; s != nil {
		return s
	}
	if len(t.changes) >= maxChanges {
		d.From, d.To, rules = "…", "…", []string{}
		key = d.What + string(d.Direction)
	}
	s := t.changes[key]
	if s == nil {
		s = &sum{Change{Difference: d, Rules: rules}, map[string]bool{}}
		t.changes[key] = s
		t.order = append(t.order, s)
	}
	return s
}

// stricter is the decision that lets less happen.
func (v verdict) stricter() bailiff.Decision {
	if v.Was.Outcome < v.Now.Outcome {
		return v.Was.Decision
	}
	return v.Now.Decision
}

func (s *sum) add(f finding) {
	s.Decisions++
	who := api.Requester(f.asked.Session)
	if !s.users[who] && len(s.users) < maxUsers {
		s.users[who] = true
		s.UserCount++
		if len(s.Users) < shownUsers {
			s.Users = append(s.Users, who)
		}
	}
	if len(s.Examples) < maxExamples {
		s.Examples = append(s.Examples, f.example())
	}
}

func (f finding) example() Example {
	e := Example{DecisionID: f.id, Time: f.time, User: api.Requester(f.asked.Session), Tool: string(f.asked.Tool),
		Text: f.about}
	if reasons := f.stricter().Reasons(); len(reasons) > 0 {
		e.Message = reasons[0].Message
	}
	return e
}

func (t *tally) report() Report {
	r := t.Report
	r.Outcomes, r.Changes, r.Skipped = []Shift{}, []Change{}, []Skip{}
	for shift, n := range t.shifts {
		r.Outcomes = append(r.Outcomes, Shift{shift[0], shift[1], n})
	}
	slices.SortFunc(r.Outcomes, func(a, b Shift) int {
		return cmp.Or(cmp.Compare(b.Decisions, a.Decisions), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	for _, s := range t.order {
		r.Changes = append(r.Changes, s.Change)
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int { return cmp.Compare(b.Decisions, a.Decisions) })
	for _, s := range t.skips {
		r.Skipped = append(r.Skipped, *s)
	}
	slices.SortFunc(r.Skipped, func(a, b Skip) int { return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Why, b.Why)) })
	return r
}

func (t *tally) skippedText() string {
	skipped := t.report().Skipped
	if len(skipped) == 0 {
		return "it is empty"
	}
	texts := make([]string, len(skipped))
	for i, s := range skipped {
		texts[i] = s.String()
	}
	return strings.Join(texts, ", ")
}
