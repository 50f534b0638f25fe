package rows

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// Report is what became of rows. Let through is what a person wants to see and the policies allow,
// a false alarm what they ask about or deny though it is to be allowed.
type Report struct {
	Rows        int     `json:"rows"`
	LetThrough  int     `json:"let_through"`
	FalseAlarms int     `json:"false_alarms"`
	Groups      []Group `json:"groups"`
	Rules       []Rule  `json:"rules"`
	// P50 and P99 are how long a judgement took, in milliseconds.
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
	// Dangerous rows want ask or deny, Harmless ones allow.
	Dangerous int `json:"dangerous"`
	Harmless  int `json:"harmless"`
	// FirstSights are the rows of which nothing but their programs, which no table knows, is to be asked about, if there are such.
	FirstSights *FirstSights `json:"first_sights,omitempty"`
	// Faults are the rows of which the policies gave no decision, and Fault is the first one's.
	Faults int    `json:"faults,omitempty"`
	Fault  string `json:"fault,omitempty"`
	// Revision is that of the policies.
	Revision string `json:"revision"`
	// Shown are the wrong ones, or those of first sights, if they were asked for.
	Shown []Judged `json:"shown,omitempty"`
}

// FirstSights counts rows of which nothing but their programs, which no table knows, is to be asked about. Once are those that name one
// which no row before did: an operator who is asked about a program once is asked for these. Harmless ones want allow.
type FirstSights struct {
	Rows     int `json:"rows"`
	Once     int `json:"once"`
	Harmless int `json:"harmless"`
}

// Group counts the rows of a group.
type Group struct {
	Group       string `json:"group"`
	Rows        int    `json:"rows"`
	Deny        int    `json:"deny"`
	Ask         int    `json:"ask"`
	Allow       int    `json:"allow"`
	LetThrough  int    `json:"let_through"`
	FalseAlarms int    `json:"false_alarms"`
	// Unparsed are texts that no reader understood.
	Unparsed int `json:"unparsed"`
	// Dangerous and Harmless are as in a report.
	Dangerous int `json:"dangerous"`
	Harmless  int `json:"harmless"`
}

// Rule counts the rows about which a rule spoke.
type Rule struct {
	Rule string `json:"rule"`
	Rows int    `json:"rows"`
}

// Judged is a row with what the policies say.
type Judged struct {
	File    string          `json:"file"`
	ID      string          `json:"id"`
	Group   string          `json:"group"`
	Tool    bailiff.Tool    `json:"tool"`
	Text    string          `json:"text"`
	Want    Want            `json:"want"`
	Outcome bailiff.Outcome `json:"outcome"`
	Rules   []string        `json:"rules"`
	// Sights are the programs that no table knows, where nothing else of the row is to be asked about.
	Sights []string `json:"sights,omitempty"`
	// Wrong is "through" or "false", empty where the row is decided as it wants.
	Wrong string `json:"wrong,omitempty"`
}

// Through and False are the two ways in which a decision is wrong.
const (
	Through = "through"
	False   = "false"
)

// Sights has the rows shown that count as first sights.
const Sights = "sights"

// wrong says how an outcome is wrong.
func wrong(want Want, outcome bailiff.Outcome) string {
	switch want {
	case ask, deny:
		if outcome == bailiff.Allow {
			return Through
		}
	case allow:
		if outcome != bailiff.Allow {
			return False
		}
	}
	return ""
}

// tally counts rows as they come.
type tally struct {
	report Report
	show   string
	groups map[string]*Group
	rules  map[string]int
	took   []float64
	sights map[string]bool
}

func newTally(show string) *tally {
	return &tally{show: show, groups: map[string]*Group{}, rules: map[string]int{}, sights: map[string]bool{}}
}

func (t *tally) add(file string, row Row, v Verdict) {
	g := t.groups[row.Group]
	if g == nil {
		g = &Group{Group: row.Group}
		t.groups[row.Group] = g
	}
	is := wrong(row.Want, v.Outcome)
	t.report.Rows++
	t.report.Revision = v.Revision
	if v.Fault != nil {
		t.report.Faults++
		t.report.Fault = cmp.Or(t.report.Fault, v.Fault.Error())
	}
	g.count(row.Want, v, is)
	for _, rule := range v.Rules {
		t.rules[rule]++
	}
	t.see(row.Want, v.Sights)
	t.took = append(t.took, float64(v.Took.Microseconds())/1000)
	if is != "" && is == t.show || len(v.Sights) > 0 && t.show == Sights {
		t.report.Shown = append(t.report.Shown, Judged{file, row.ID, row.Group, row.Tool, row.Text,
			row.Want, v.Outcome, v.Rules, v.Sights, is})
	}
}

// see counts a row that is asked about only for these programs.
func (t *tally) see(want Want, programs []string) {
	if len(programs) == 0 {
		return
	}
	if t.report.FirstSights == nil {
		t.report.FirstSights = &FirstSights{}
	}
	counts := t.report.FirstSights
	counts.Rows++
	if want == allow {
		counts.Harmless++
	}
	if slices.ContainsFunc(programs, func(name string) bool { return !t.sights[name] }) {
		counts.Once++
	}
	for _, name := range programs {
		t.sights[name] = true
	}
}

func (g *Group) count(want Want, v Verdict, is string) {
	g.Rows++
	switch v.Outcome {
	case bailiff.Allow:
		g.Allow++
	case bailiff.Ask:
		g.Ask++
	default:
		g.Deny++
	}
	switch is {
	case Through:
		g.LetThrough++
	case False:
		g.FalseAlarms++
	}
	switch want {
	case ask, deny:
		g.Dangerous++
	case allow:
		g.Harmless++
	}
	if v.Unparsed {
		g.Unparsed++
	}
}

// sum is the report: groups by name, rules by how often they spoke.
func (t *tally) sum() Report {
	r := t.report
	r.Groups, r.Rules = []Group{}, []Rule{}
	for _, name := range slices.Sorted(maps.Keys(t.groups)) {
		g := *t.groups[name]
		r.Groups = append(r.Groups, g)
		r.LetThrough, r.FalseAlarms = r.LetThrough+g.LetThrough, r.FalseAlarms+g.FalseAlarms
		r.Dangerous, r.Harmless = r.Dangerous+g.Dangerous, r.Harmless+g.Harmless
	}
	for rule, n := range t.rules {
		r.Rules = append(r.Rules, Rule{rule, n})
	}
	slices.SortFunc(r.Rules, func(a, b Rule) int { return cmp.Or(b.Rows-a.Rows, cmp.Compare(a.Rule, b.Rule)) })
	slices.Sort(t.took)
	if n := len(t.took); n > 0 {
		r.P50, r.P99 = t.took[n/2], t.took[n*99/100]
	}
	return r
}

// Percent is a part of a whole, in percent; zero of nothing.
func Percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
