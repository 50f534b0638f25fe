package rows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// echoing decides as the text of a row says.
type echoing struct{}

func (echoing) Check(row Row) error {
	if row.Backend == "nowhere" {
		return errors.New("no such backend")
	}
	return nil
}

func (echoing) Judge(_ context.Context, row Row) Verdict {
	outcome, rule, _ := strings.Cut(row.Text, " ")
	v := Verdict{Outcome: bailiff.Deny, Rules: strings.Fields(rule), Revision: "r", Unparsed: row.Tool == bailiff.ExecuteCode}
	_ = v.Outcome.UnmarshalText([]byte(outcome))
	if programs, isSight := strings.CutPrefix(rule, "sees "); isSight {
		v.Rules, v.Sights = nil, strings.Fields(programs)
	}
	if rule == "fault" {
		v.Fault = errors.New("torn")
	}
	return v
}

func judged(t *testing.T, run *Run, text string) Report {
	t.Helper()
	if err := run.Add(t.Context(), strings.NewReader(text), "some.jsonl"); err != nil {
		t.Fatal(err)
	}
	r := run.Report()
	r.P50, r.P99 = 0, 0
	return r
}

func TestRowsAreCountedByGroupAndRule(t *testing.T) {
	t.Parallel()
	got := judged(t, &Run{Judge: echoing{}, Show: Through}, `{"id":"a/1","tool":"terminal","text":"allow","want":"ask"}

{"id":"a.2","tool":"terminal","text":"ask r.one r.two","want":"allow","why":"a key of their own"}
{"id":"a#3","tool":"execute_code","text":"deny r.one","want":"deny"}
{"tool":"terminal","text":"allow","group":"b","want":"either"}
{"tool":"terminal","text":"deny fault","group":"b"}`)
	want := Report{Rows: 5, LetThrough: 1, FalseAlarms: 1, Dangerous: 2, Harmless: 1, Faults: 1, Fault: "torn", Revision: "r",
		Groups: []Group{
			{Group: "a", Rows: 3, Deny: 1, Ask: 1, Allow: 1, LetThrough: 1, FalseAlarms: 1, Unparsed: 1, Dangerous: 2, Harmless: 1},
			{Group: "b", Rows: 2, Deny: 1, Allow: 1},
		},
		Rules: []Rule{{"r.one", 2}, {"fault", 1}, {"r.two", 1}},
		Shown: []Judged{{File: "some.jsonl", ID: "a/1", Group: "a", Tool: bailiff.Terminal, Text: "allow",
			Want: ask, Outcome: bailiff.Allow,
			Rules: []string{}, Wrong: Through}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestRowsAreGroupedByAKeyOfTheirOwn(t *testing.T) {
	t.Parallel()
	got := judged(t, &Run{Judge: echoing{}, GroupBy: "technique"}, `{"tool":"terminal","text":"ask","technique":"T1"}
{"tool":"terminal","text":"ask","technique":7}
{"tool":"terminal","text":"ask"}`)
	var names []string
	for _, g := range got.Groups {
		names = append(names, g.Group)
	}
	if !reflect.DeepEqual(names, []string{"", "7", "T1"}) {
		t.Errorf("groups are %q", names)
	}
}

func TestFirstSightsAreCountedOnceForEachProgram(t *testing.T) {
	t.Parallel()
	got := judged(t, &Run{Judge: echoing{}, Show: Sights}, `{"id":"a/1","tool":"terminal","text":"allow sees x y","want":"allow"}
{"id":"a/2","tool":"terminal","text":"allow sees y","want":"ask"}
{"id":"a/3","tool":"terminal","text":"allow","want":"ask"}`)
	if got.FirstSights == nil || *got.FirstSights != (FirstSights{Rows: 2, Once: 1, Harmless: 1}) {
		t.Errorf("first sights are %+v, want 2 rows, 1 once, 1 that wants allow", got.FirstSights)
	}
	if len(got.Shown) != 2 || got.Shown[1].ID != "a/2" || !slices.Equal(got.Shown[0].Sights, []string{"x", "y"}) {
		t.Errorf("shown are %+v, want the rows a/1 and a/2 with their programs", got.Shown)
	}
}

func TestManyRowsAreCountedOnceAndShownInTheirOrder(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, `{"id":"%04d","tool":"terminal","text":"allow","want":"deny"}`+"\n", i)
	}
	got := judged(t, &Run{Judge: echoing{}, Show: Through}, text.String())
	for i, s := range got.Shown {
		if s.ID != fmt.Sprintf("%04d", i) {
			t.Fatalf("shown in the place %d is %s", i, s.ID)
		}
	}
	if got.Rows != 2000 || len(got.Shown) != 2000 || got.LetThrough != 2000 {
		t.Errorf("got %d rows, %d shown, %d let through", got.Rows, len(got.Shown), got.LetThrough)
	}
}

func TestARowThatCannotBeJudgedIsNamed(t *testing.T) {
	t.Parallel()
	for row, says := range map[string]string{
		`[]`:                                 "no JSON object",
		`{"tool":"terminal","text":"allow"`:  "no JSON object",
		`{"tool":"terminal","txet":"allow"}`: `text is missing`,
		`{"tool":"terminal","text":"allow","wnt":"ask"}`:           `"wnt" is no key of a row: is "want" meant?`,
		`{"tool":"shell","text":"allow"}`:                          "want terminal or execute_code",
		`{"tool":"terminal","text":"allow","want":"allowed"}`:      `nearest valid word is "allow"`,
		`{"tool":"terminal","text":7}`:                             "text",
		`{"tool":"terminal","text":"allow","backend":"nowhere"}`:   "no such backend",
		`{"tool":"terminal","text":"allow","session":{"id":true}}`: "session",
	} {
		run := &Run{Judge: echoing{}}
		err := run.Add(t.Context(), strings.NewReader("\n"+row), "some.jsonl")
		if err == nil || !strings.HasPrefix(err.Error(), "some.jsonl:2: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want the place and %q", row, err, says)
		}
	}
	huge, _ := json.Marshal(strings.Repeat("x", maxLine))
	if err := (&Run{Judge: echoing{}}).Add(t.Context(), strings.NewReader(string(huge)), "some.jsonl"); err == nil ||
		!strings.Contains(err.Error(), "some.jsonl:1: a row has more than 8 MiB") {
		t.Errorf("a huge row: %v", err)
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := (&Run{Judge: echoing{}}).Add(ctx, strings.NewReader(`{"tool":"terminal","text":"allow"}`), "some.jsonl")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
