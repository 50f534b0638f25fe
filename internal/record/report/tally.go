package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// What is held at most, however long the log is.
const (
	maxNames     = 5_000
	maxExamples  = 3
	maxQuestions = 50_000
	// maxSeconds bounds what is told apart of how long an answer took.
	maxSeconds = 3_600
)

// bounded are values by name, of which there are not more than [maxNames] and Others.
type bounded[V any] map[string]*V

func (b bounded[V]) at(name string) *V {
	if v := b[name]; v != nil {
		return v
	}
	if len(b) >= maxNames {
		name = Others
	}
	v := b[name]
	if v == nil {
		v = new(V)
		b[name] = v
	}
	return v
}

// tally sums up events, in the order of the log.
type tally struct {
	Report
	places        bounded[Place]
	rules         bounded[Rule]
	observed      bounded[Observed]
	chats, people bounded[requester]
	approvers     bounded[approver]
	hosts         bounded[Host]
	// wanted are the decisions to ask, by their ids, asked the questions that were put to people, by those of the approvals.
	wanted *recent.Map[string, event]
	asked  *recent.Map[string, question]
}

// question is one that was put to people. It stays known when it has ended: a step may stand in the log twice.
type question struct {
	at    time.Time
	ended bool
}

type requester struct {
	Requester
	today int
	day   string
}

type approver struct {
	Approver
	seconds map[int]int // how many answers took so many
}

func newTally(since time.Time) *tally {
	return &tally{Report: Report{Since: since}, places: bounded[Place]{}, rules: bounded[Rule]{},
		observed: bounded[Observed]{}, chats: bounded[requester]{},
		people: bounded[requester]{}, approvers: bounded[approver]{}, hosts: bounded[Host]{},
		wanted: recent.New[string, event](maxQuestions), asked: recent.New[string, question](maxQuestions)}
}

func (t *tally) add(e event) {
	switch {
	case e.unreadable:
		t.Unreadable++
		return
	case !e.counts:
		return
	}
	t.Lines++
	if t.First.IsZero() {
		t.First = e.Timestamp
	}
	t.Last = e.Timestamp
	switch e.Custom.Event {
	case api.DecisionEvent:
		t.decided(e)
	case api.ExecutionEvent:
		t.ran(e)
	case api.ApprovalEvent:
		t.answered(e)
	case api.ConnectionEvent:
		t.connected(e)
	}
}

func (t *tally) decided(e event) {
	if e.Path != api.DecisionPath {
		return
	}
	for _, sum := range []*Outcomes{&t.Requests, &t.chats.at(e.chat()).Outcomes, &t.people.at(e.person()).Outcomes} {
		switch e.Result.Outcome {
		case bailiff.Allow.String():
			sum.Allowed++
		case bailiff.Ask.String():
			sum.Asked++
		case bailiff.Deny.String():
			sum.Denied++
		default:
			sum.Hidden++
		}
	}
	t.watched(e)
	asked, denied := e.rules()
	if e.Result.Outcome == bailiff.Ask.String() {
		for _, rule := range asked {
			t.rules.at(rule).example(e.text).Asked++
		}
		t.wanted.Put(e.DecisionID, e)
	}
	for _, rule := range denied {
		t.rules.at(rule).example(e.text).Denied++
	}
}

// watched counts the rules that were only observed.
func (t *tally) watched(e event) {
	if len(e.Result.Observed) > 0 {
		t.ObservedRequests++
	}
	for _, rule := range e.Result.Observed {
		o := t.observed.at(rule)
		if o.Examples = withExample(o.Examples, e.text); e.Result.WithoutObserve == bailiff.Deny.String() {
			o.Denied++
		} else {
			o.Asked++
		}
	}
}

func (r *Rule) example(text string) *Rule {
	r.Examples = withExample(r.Examples, text)
	return r
}

func withExample(all []string, text string) []string {
	if len(all) < maxExamples && !slices.Contains(all, text) {
		all = append(all, text)
	}
	return all
}

func (t *tally) ran(e event) {
	p := t.places.at(e.Custom.Backend)
	p.Runs++
	if code := e.Custom.ExitCode; code != nil && *code != 0 {
		p.Failed++
	}
	p.Seconds += time.Duration(e.Custom.Nanoseconds).Seconds()
}

// answered counts a question once as put, and once as ended.
func (t *tally) answered(e event) {
	a := e.Custom.Approval
	if a == nil {
		return
	}
	asked, known := t.asked.Get(a.ID)
	wanted, _ := t.wanted.Get(e.DecisionID)
	switch {
	case a.State == bailiff.ApprovalPending && !known:
		t.asked.Put(a.ID, question{at: e.Timestamp})
		t.put(wanted, e.Timestamp)
	case a.State != bailiff.ApprovalPending && known && !asked.ended:
		t.asked.Put(a.ID, question{at: asked.at, ended: true})
		t.settled(wanted, *a, e.Timestamp.Sub(asked.at))
	}
}

// put counts a question for who caused it.
func (t *tally) put(wanted event, at time.Time) {
	if wanted.DecisionID == "" {
		return // it was decided before the time that counts, or is about a connection
	}
	for _, r := range []*requester{t.chats.at(wanted.chat()), t.people.at(wanted.person())} {
		r.Questions++
		if day := at.UTC().Format(time.DateOnly); day != r.day {
			r.day, r.today = day, 0
		}
		if r.today++; r.today > r.MostADay {
			r.MostADay, r.Day = r.today, r.day
		}
	}
}

func (t *tally) settled(wanted event, a bailiff.Approval, took time.Duration) {
	asked, _ := wanted.rules()
	yes, no := a.State == bailiff.ApprovalApproved, a.State == bailiff.ApprovalDenied
	for _, rule := range asked {
		switch r := t.rules.at(rule); {
		case yes:
			r.Yes++
		case no:
			r.No++
		default:
			r.Unanswered++
		}
	}
	if !yes && !no || a.By == "" {
		return
	}
	for name := range strings.SplitSeq(a.By, ", ") {
		t.approvers.at(name).answer(yes, took)
	}
}

func (a *approver) answer(yes bool, took time.Duration) {
	if !yes {
		a.No++
		return
	}
	a.Yes++
	seconds := min(max(0, int(took.Seconds())), maxSeconds) // a clock may have been set back
	if seconds < quick {
		a.Quick++
	}
	if a.seconds == nil {
		a.seconds = map[int]int{}
	}
	a.seconds[seconds]++
}

// median is how long half of the answers took at most.
func (a *approver) median() int {
	before := 0
	for _, seconds := range slices.Sorted(maps.Keys(a.seconds)) {
		if before += a.seconds[seconds]; 2*before >= a.Yes {
			return seconds
		}
	}
	return 0
}

func (t *tally) connected(e event) {
	c := e.Custom.Connection
	if c == nil {
		return
	}
	h := t.hosts.at(c.Host)
	switch c.What {
	case "opened":
		h.Opened++
	case "refused":
		h.Refused += 1 + c.More
	case "closed":
		h.Sent += c.Sent
		h.Received += c.Received
	}
}

func (t *tally) report() Report {
	r := t.Report
	r.Places = sorted(t.places, func(p *Place, name string) Place { p.Backend = name; return *p }, func(p Place) int { return p.Runs })
	r.Rules = sorted(t.rules, func(r *Rule, name string) Rule { r.Rule = name; return *r }, func(r Rule) int { return r.Asked + r.Denied })
	r.Observed = sorted(t.observed, func(o *Observed, name string) Observed { o.Rule = name; return *o },
		func(o Observed) int { return o.Asked + o.Denied })
	r.Chats = sorted(t.chats, (*requester).as, hindered)
	r.People = sorted(t.people, (*requester).as, hindered)
	r.Approvers = sorted(t.approvers, (*approver).as, func(a Approver) int { return a.Yes + a.No })
	r.Hosts = sorted(t.hosts, func(h *Host, name string) Host { h.Host = name; return *h },
		func(h Host) int { return h.Opened + h.Refused })
	r.InVain = []Rule{}
	for _, rule := range r.Rules {
		if rule.Yes >= enough && rule.No == 0 {
			r.InVain = append(r.InVain, rule)
		}
	}
	slices.SortStableFunc(r.InVain, func(a, b Rule) int { return cmp.Compare(b.Yes, a.Yes) })
	return r
}

// sorted is a list of values, each with its name, those of which there are most first, and Others last.
func sorted[V, R any](values bounded[V], as func(*V, string) R, size func(R) int) []R {
	type named struct {
		value R
		size  int
	}
	all := make([]named, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		one := as(values[name], name)
		all = append(all, named{one, size(one)})
		if name == Others {
			all[len(all)-1].size = -1
		}
	}
	slices.SortStableFunc(all, func(a, b named) int { return cmp.Compare(b.size, a.size) })
	list := make([]R, len(all))
	for i, one := range all {
		list[i] = one.value
	}
	return list
}

// hindered are the requests of a requester that did not run at once.
func hindered(r Requester) int { return r.Asked + r.Denied }

func (r *requester) as(name string) Requester {
	r.Name = name
	return r.Requester
}

func (a *approver) as(name string) Approver {
	a.Name, a.Seconds = name, a.median()
	return a.Approver
}
