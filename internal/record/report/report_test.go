package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

var monday = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

// book is a log that is being written, an event a second.
type book struct {
	at    time.Time
	lines []string
}

func (b *book) add(t *testing.T, e api.Event, input map[string]any) {
	t.Helper()
	e.Timestamp = b.at
	text, err := json.Marshal(e)
	must(t, err)
	if input != nil {
		said, err := json.Marshal(input)
		must(t, err)
		text = append([]byte(`{"input":`+string(said)+`,`), text[1:]...)
	}
	b.lines = append(b.lines, string(text))
	b.at = b.at.Add(time.Second)
}

// decide adds a decision of a user in a chat on a command.
func (b *book) decide(t *testing.T, id, user, command string, d bailiff.Decision) {
	t.Helper()
	b.add(t, api.Event{DecisionID: id, Path: api.DecisionPath, Result: d, Custom: api.Custom{Event: api.DecisionEvent}}, map[string]any{
		"args": map[string]any{"command": command}, "session": map[string]any{"platform": "slack", "user_id": user, "chat_id": "ops"}})
}

// approval adds a step of a question.
func (b *book) approval(t *testing.T, decision, id, by string, state bailiff.ApprovalState) {
	t.Helper()
	b.add(t, api.Event{DecisionID: decision, Custom: api.Custom{Event: api.ApprovalEvent,
		Approval: &bailiff.Approval{ID: id, State: state, By: by}}}, nil)
}

func (b *book) of(t *testing.T, since time.Time) Report {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log.jsonl")
	must(t, os.WriteFile(file, []byte(strings.Join(b.lines, "\n")+"\n"), 0o600))
	r, err := Of(t.Context(), []string{file}, since)
	must(t, err)
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func asking(rule string) bailiff.Decision {
	return bailiff.Decision{Outcome: bailiff.Ask,
		Approval: &bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: rule}, {Rule: rule}}}}
}

func denying(rule string) bailiff.Decision {
	return bailiff.Decision{Outcome: bailiff.Deny, Denials: []bailiff.Reason{{Rule: rule}}}
}

func TestAReportCountsWhatWasAskedAndHowPeopleAnswered(t *testing.T) {
	b := &book{at: monday}
	for n := range 6 { // each is asked, and gets a yes after 1 second but the last, which ana thinks over for 100
		id := fmt.Sprint("d", n)
		b.decide(t, id, "7", "git push", asking("command.publishes"))
		b.approval(t, id, "a"+id, "", bailiff.ApprovalPending)
		b.approval(t, id, "a"+id, "", bailiff.ApprovalPending) // a vote, of two that are needed
		if n == 5 {
			b.at = b.at.Add(98 * time.Second)
		}
		b.approval(t, id, "a"+id, "ana, ben", bailiff.ApprovalApproved)
		b.approval(t, id, "a"+id, "ana, ben", bailiff.ApprovalApproved) // the grant lapsed
	}
	for id, state := range map[string]bailiff.ApprovalState{"no": bailiff.ApprovalDenied, "late": bailiff.ApprovalExpired} {
		b.decide(t, id, "8", "sudo ls", asking("command.gains_privilege"))
		b.approval(t, id, "a"+id, "", bailiff.ApprovalPending)
		b.approval(t, id, "a"+id, map[bool]string{true: "ana"}[state == bailiff.ApprovalDenied], state)
	}
	b.at = monday.AddDate(0, 0, 1)
	b.decide(t, "granted", "7", "git push", asking("command.publishes")) // by a grant: no question is put
	b.decide(t, "denied", "8", "rm -rf /", denying("command.destroys_system"))
	r := b.of(t, monday)
	if r.Requests != (Outcomes{Asked: 9, Denied: 1}) || r.Lines != len(b.lines) || r.First != monday {
		t.Errorf("the requests are %+v of %d lines since %s", r.Requests, r.Lines, r.First)
	}
	push := Rule{Rule: "command.publishes", Asked: 7, Yes: 6, Examples: []string{"git push"}}
	rules := []Rule{push, {Rule: "command.gains_privilege", Asked: 2, No: 1, Unanswered: 1, Examples: []string{"sudo ls"}},
		{Rule: "command.destroys_system", Denied: 1, Examples: []string{"rm -rf /"}}}
	if fmt.Sprint(r.Rules) != fmt.Sprint(rules) || fmt.Sprint(r.InVain) != fmt.Sprint([]Rule{push}) {
		t.Errorf("the rules are %+v, in vain %+v", r.Rules, r.InVain)
	}
	seven := Requester{Name: "slack/7", Outcomes: Outcomes{Asked: 7}, Questions: 6, MostADay: 6, Day: "2026-11-23"}
	if r.People[0] != seven || len(r.Chats) != 1 || r.Chats[0].Name != "slack/ops" || r.Chats[0].Questions != 8 {
		t.Errorf("the people are %+v, the chats %+v", r.People, r.Chats)
	}
	if want := []Approver{{"ana", 6, 1, 2, 5}, {"ben", 6, 0, 2, 5}}; !slices.Equal(r.Approvers, want) {
		t.Errorf("the approvers are %+v, want %+v", r.Approvers, want)
	}
}

func TestAReportTellsWhatWasOnlyObserved(t *testing.T) {
	b := &book{at: monday}
	for _, d := range []bailiff.Decision{
		{Outcome: bailiff.Allow, Observed: []string{"team.rule", "command.mounts"}, WithoutObserve: "ask"},
		{Outcome: bailiff.Allow, Observed: []string{"team.rule"}, WithoutObserve: "deny"},
		{Outcome: bailiff.Allow},
	} {
		b.decide(t, fmt.Sprint("d", len(b.lines)), "7", "mount /mnt", d)
	}
	r := b.of(t, monday)
	want := []Observed{{"team.rule", 1, 1, []string{"mount /mnt"}}, {"command.mounts", 1, 0, []string{"mount /mnt"}}}
	if fmt.Sprint(r.Observed) != fmt.Sprint(want) || r.ObservedRequests != 2 || len(r.Rules) > 0 {
		t.Errorf("observed were %+v in %d requests, the rules are %+v", r.Observed, r.ObservedRequests, r.Rules)
	}
	if text := r.Summary(); !strings.Contains(text, "About 2 of them rules were only observed") {
		t.Errorf("it says %q", text)
	}
}

func TestAReportCountsWhatRanAndWhereConnectionsLed(t *testing.T) {
	b := &book{at: monday}
	zero, three := 0, 3
	for _, code := range []*int{&zero, &three} {
		b.add(t, api.Event{Custom: api.Custom{Event: api.ExecutionEvent, Backend: "docker", ExitCode: code, Nanoseconds: 5e8}}, nil)
	}
	for _, c := range []api.Connection{{What: "opened", Host: "pypi.org"}, {What: "closed", Host: "pypi.org", Sent: 3, Received: 4},
		{What: "refused", Host: "evil.test", More: 2}} {
		b.add(t, api.Event{Custom: api.Custom{Event: api.ConnectionEvent, Connection: &c}}, nil)
	}
	r := b.of(t, monday)
	if want := []Place{{"docker", 2, 1, 1}}; !slices.Equal(r.Places, want) {
		t.Errorf("it ran at %+v, want %+v", r.Places, want)
	}
	if want := []Host{{"evil.test", 0, 3, 0, 0}, {"pypi.org", 1, 0, 3, 4}}; !slices.Equal(r.Hosts, want) {
		t.Errorf("the hosts are %+v, want %+v", r.Hosts, want)
	}
}

func TestAReportBeginsWhereItIsToldAndPassesOverWhatIsNoEvent(t *testing.T) {
	b := &book{at: monday}
	b.decide(t, "before", "7", "git push", asking("command.publishes"))
	b.approval(t, "before", "a", "", bailiff.ApprovalPending)
	b.lines = append(b.lines, "garbage", `[1]`)
	since := b.at
	b.approval(t, "before", "a", "ana", bailiff.ApprovalApproved)
	b.decide(t, "masked", "7", "x", bailiff.Decision{})
	b.lines[len(b.lines)-1] = strings.Replace(b.lines[len(b.lines)-1], `"outcome":"deny"`, `"outcome":{"gone":1}`, 1)
	r := b.of(t, since)
	if r.Lines != 2 || r.Unreadable != 2 || r.Requests != (Outcomes{Hidden: 1}) || len(r.Rules)+len(r.Approvers) != 0 {
		t.Errorf("got %+v", r)
	}
	if text := b.of(t, since.AddDate(0, 0, 1)).Summary(); !strings.Contains(text, "no event since 2026-11-24") ||
		!strings.Contains(text, "cannot be read: 2") {
		t.Errorf("of nothing it says %q", text)
	}
}

func TestAReportStaysSmallWhateverALogHolds(t *testing.T) {
	sums := newTally(monday)
	for n := range maxNames + 10 {
		e := event{counts: true}
		e.Custom.Event, e.Custom.Connection = api.ConnectionEvent, &api.Connection{What: "opened", Host: fmt.Sprint("h", n)}
		sums.add(e)
	}
	r := sums.report()
	if last := r.Hosts[len(r.Hosts)-1]; len(r.Hosts) != maxNames+1 || last.Host != Others || last.Opened != 10 {
		t.Errorf("%d hosts, the last is %+v", len(r.Hosts), last)
	}
	for _, table := range r.Tables() {
		if len(table.Rows) > shown {
			t.Errorf("%s has %d rows", table.Title, len(table.Rows))
		}
	}
}

func TestTextsOfRequestsAreNoMoreThanTextsInMarkdown(t *testing.T) {
	b := &book{at: monday}
	const hostile = "a|b <img src=x onerror=alert(1)> [x](javascript:1) `c` https://evil.test @team \x1b[31m\n# d"
	b.decide(t, "one", "7", hostile, denying("x"))
	var out strings.Builder
	r := b.of(t, monday)
	must(t, Markdown(&out, "Report", r.Summary(), r.Tables()))
	const want = `a\|b &lt;img src=x onerror=alert(1)&gt; \[x\](javascript:1) \` + "`c\\`" + ` https&#58;//evil.test &#64;team`
	if !strings.Contains(out.String(), want) || strings.ContainsAny(out.String(), "\x1b<") || strings.Contains(out.String(), "\n# d") {
		t.Errorf("got %s", out.String())
	}
}
