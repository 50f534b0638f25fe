package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// ran judges a log by policies, and compares with what was logged.
func ran(t *testing.T, p Judge, folder string) Report {
	t.Helper()
	report, err := Trial{Policies: p, Floor: bare}.Run(t.Context(), []string{folder})
	must(t, err)
	return report
}

// found are the changes of a report in one line each.
func found(r Report) (lines []string) {
	for _, c := range r.Changes {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s %s: %s -> %s %s", c.Decisions, c.Direction, c.What, c.From, c.To,
			strings.Join(c.Rules, " "))))
	}
	slices.Sort(lines)
	return lines
}

func wantChanges(t *testing.T, r Report, want ...string) {
	t.Helper()
	if got := found(r); !slices.Equal(got, want) {
		t.Errorf("the changes are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheSamePoliciesDecideTheSame(t *testing.T) {
	backendtest.Long(t)
	const decisions = 1500 // all of the corpus
	policies := shipped(t, nil)
	r := ran(t, policies, logged(t, policies, mixture(t, decisions)...))
	if r.Judged != decisions || r.Changed != 0 || len(r.Skipped) != 0 {
		t.Errorf("judged %d, changed %d, skipped %v: %v", r.Judged, r.Changed, r.Skipped, found(r))
	}
	if r.Revision != policies.Revision() || !r.First.Equal(noon) || !r.Last.After(noon) {
		t.Errorf("revision %s from %s to %s", r.Revision, r.First, r.Last)
	}
}

// stern are rules of which each meets another request.
const stern = `package bailiff

deny contains {"rule": "house.closed", "message": "Closed."} if input.session.user_id == "denied"

require_approval contains {"rule": "house.asks", "message": "Sure?", "match": "x"} if input.tool == "process"

withhold_env contains {"name": "GITHUB_TOKEN", "rule": "house.tokens"} if input.session.user_id == "pushing"

limits contains {"timeout_seconds": 7} if input.session.user_id == "hurried"

backend_candidates contains {"name": "bubblewrap", "rank": -1} if input.session.user_id == "moved"
`

func TestWhatOtherPoliciesWouldDoIsFound(t *testing.T) {
	backendtest.Long(t)
	push := chat("slack", "pushing", "git push")
	push.Env = []string{"GITHUB_TOKEN"}
	typed := chat("telegram", "typing", "")
	typed.Tool, typed.Args = bailiff.Process, bailiff.Args{Action: "submit", ProcessID: "p", Command: "bash", Data: "ls"}
	log := logged(t, shipped(t, nil), push, typed, chat("telegram", "denied", "ls"), chat("telegram", "hurried", "ls"),
		chat("telegram", "moved", "ls"), chat("telegram", "another", "ls"), chat("irc", "denied", "ls"))
	wantChanges(t, ran(t, shipped(t, map[string]string{"house.rego": stern}), log),
		"1 other backend.name: docker -> bubblewrap",
		"1 other rules:  -> house.closed",
		"1 stricter env.forward: GITHUB_TOKEN ->",
		"1 stricter limits.timeout_seconds: 180 -> 7",
		"1 stricter outcome: allow -> ask house.asks",
		"1 stricter outcome: allow -> deny house.closed",
	)
}

const closed = `package bailiff

deny contains {"rule": "house.closed", "message": "Closed."} if input.session.platform == "telegram"
`

func TestARevokedRuleShowsWhomItNoLongerDenies(t *testing.T) {
	backendtest.Long(t)
	strict := shipped(t, map[string]string{"house.rego": closed})
	r := ran(t, shipped(t, nil), logged(t, strict, chat("telegram", "42", "ls -l"), chat("telegram", "43", "date"),
		chat("telegram", "42", "date")))
	wantChanges(t, r, "3 looser outcome: deny -> allow house.closed")
	c := r.Changes[0]
	if !slices.Equal(c.Users, []string{"telegram/42", "telegram/43"}) || c.UserCount != 2 {
		t.Errorf("users are %v, %d of them", c.Users, c.UserCount)
	}
	if e := c.Examples[0]; e.Text != "ls -l" || e.User != "telegram/42" || e.Message != "Closed." || !e.Time.Equal(noon) {
		t.Errorf("the first example is %+v", e)
	}
	if r.Looser != 3 || r.Stricter != 0 || r.Changed != 3 {
		t.Errorf("looser %d, stricter %d, changed %d", r.Looser, r.Stricter, r.Changed)
	}
}

func TestPoliciesAreComparedWithOthersRatherThanTheLog(t *testing.T) {
	backendtest.Long(t)
	log := logged(t, shipped(t, map[string]string{"house.rego": closed}), chat("telegram", "42", "ls"))
	same := shipped(t, nil)
	r, err := Trial{Policies: same, Against: same, Floor: bare}.Run(t.Context(), []string{log})
	if must(t, err); r.Changed != 0 || r.Judged != 1 || r.Against != same.Revision() {
		t.Errorf("%+v", r)
	}
}

func TestADecisionIsJudgedAtItsOwnTime(t *testing.T) {
	backendtest.Long(t)
	hourly := shipped(t, map[string]string{"house.rego": `package bailiff

deny contains {"rule": "house.noon", "message": "Lunch."} if {
	[hour, _, _] := time.clock(time.now_ns())
	hour == 12
}
`})
	wantChanges(t, ran(t, hourly, logged(t, shipped(t, nil), chat("telegram", "42", "ls"))), "1 stricter outcome: allow -> deny house.noon")
}

func TestTheFloorIsLaidUnderPoliciesOnTrial(t *testing.T) {
	backendtest.Long(t)
	none := func(_ bailiff.Request, d bailiff.Decision) bailiff.Decision {
		d.Outcome, d.Denials = bailiff.Deny, []bailiff.Reason{{Rule: "floor.unisolated", Message: "No."}}
		return d
	}
	policies := shipped(t, nil)
	r, err := Trial{Policies: policies, Floor: none}.Run(t.Context(), []string{logged(t, policies, chat("telegram", "42", "ls"))})
	must(t, err)
	wantChanges(t, r, "1 stricter outcome: allow -> deny floor.unisolated")
}

func TestEveryLineIsJudgedOrCountedByTheReason(t *testing.T) {
	backendtest.Long(t)
	text := lastLine(t, logged(t, shipped(t, nil), chat("telegram", "42", "ls")))
	denied := func(rule string) string {
		return with(t, text, `{"result": {"outcome": "deny", "denials": [{"rule": "`+rule+`", "message": "No."}]}}`)
	}
	lines := []string{
		text,
		`{"decision_id": "x", "custom": {"event": "execution"}}`, with(t, text, `{"path": "house/report"}`),
		with(t, text, `{"input": null}`),
		with(t, text, `{"erased": ["/input/args"]}`), with(t, text, `{"masked": ["/input/args/command"]}`),
		denied("guard.night"), denied("floor.frozen"), denied("approval.void"),
		with(t, text, `{"custom": {"event": "decision", "break_glass": {"by": "ana"}}}`),
		"{", with(t, text, `{"input": "x"}`), with(t, text, `{"result": []}`),
	}
	file := filepath.Join(t.TempDir(), "some.jsonl")
	must(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	r := ran(t, shipped(t, nil), file)
	want := []string{"4 bailiff at 7", "3 unreadable at 11", "2 masked at 5", "1 document at 3", "1 event at 2", "1 input at 4"}
	var got []string
	for _, s := range r.Skipped {
		got = append(got, fmt.Sprintf("%d %s at %d", s.Lines, s.Why, s.Line))
	}
	if r.Judged != 1 || !slices.Equal(got, want) {
		t.Errorf("judged %d and left out %q, want 1 and %q", r.Judged, got, want)
	}
}

func TestALogOfWhichNothingCanBeJudgedIsAnError(t *testing.T) {
	backendtest.Long(t)
	file := filepath.Join(t.TempDir(), "some.jsonl")
	for text, want := range map[string]string{"": "it is empty", "{}\n": "1 of other events"} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := Trial{Policies: shipped(t, nil), Floor: bare}.Run(t.Context(), []string{file})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want it to say %q", err, want)
		}
	}
}

func TestAReplayThatIsGivenUpReportsNothing(t *testing.T) {
	backendtest.Long(t)
	policies := shipped(t, nil)
	log := logged(t, policies, mixture(t, 200)...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Trial{Policies: policies, Floor: bare}).Run(ctx, []string{log}); err == nil {
		t.Error("there is no error")
	}
}

// lastLine is the last line of a state folder's log.
func lastLine(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "decisions", "*"))
	must(t, err)
	text, err := os.ReadFile(files[len(files)-1])
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// with is a line with some of its fields replaced.
func with(t *testing.T, line, fields string) string {
	t.Helper()
	var event map[string]json.RawMessage
	must(t, json.Unmarshal([]byte(line), &event))
	must(t, json.Unmarshal([]byte(fields), &event))
	text, err := json.Marshal(event)
	must(t, err)
	return string(text)
}

// reaching is the event of a connection that these policies judge.
func reaching(p *pdp.PDP, host, method, path string) api.Event {
	c := bailiff.Connection{Protocol: "https", Via: "connect", Host: host, Domain: host, Port: 443, Intercepted: true, Method: method,
		Path: path, For: bailiff.ConnectionRequest{DecisionID: "d-1", Tool: bailiff.Terminal, Egress: []string{"a.test", "b.test"}},
		Caller: "agent", Session: bailiff.Session{ID: "s", Platform: "telegram", UserID: "42"}, Backend: "docker", Time: noon}
	return api.Event{DecisionID: "d-1", Timestamp: noon, Path: api.ConnectionPath, Input: pdp.ConnectionInput(c),
		Result: p.Connection(context.Background(), c), Custom: api.Custom{Event: api.ConnectionEvent, Session: "s",
			Connection: &api.Connection{What: "opened", Host: host, Port: 443}}}
}

const sternAboutHosts = `package bailiff

deny_connection contains {"rule": "house.closed", "message": "Closed."} if input.connection.host == "b.test"

deny_connection contains {"rule": "house.reads", "message": "It writes."} if input.connection.method == "POST"
`

// hosts are the shipped policies with two hosts that may be reached, and more rules.
func hosts(t *testing.T, a string, more map[string]string) *pdp.PDP {
	t.Helper()
	tables, err := os.ReadFile("../../../policies/data.yaml")
	must(t, err)
	files := map[string]string{"data.yaml": strings.Replace(string(tables), "\n    destinations:\n",
		"\n    destinations:\n      a.test: ["+a+"]\n      b.test: [{}]\n", 1)}
	maps.Copy(files, more)
	return shipped(t, files)
}

func TestConnectionsAreJudgedAnew(t *testing.T) {
	backendtest.Long(t)
	live := hosts(t, "{}", nil)
	folder := t.TempDir()
	log, err := audit.Open(audit.Config{StateDir: folder})
	must(t, err)
	log.Note(reaching(live, "a.test", "GET", "/x"))
	log.Note(reaching(live, "a.test", "POST", "/x"))
	log.Note(reaching(live, "b.test", "GET", "/"))
	log.Note(reaching(live, "c.test", "GET", "/"))
	log.Note(api.Event{DecisionID: "d-1", Timestamp: noon, Custom: api.Custom{Event: api.ConnectionEvent,
		Connection: &api.Connection{What: "closed", Host: "a.test"}}})
	must(t, log.Close())
	if r := ran(t, live, folder); r.Judged != 4 || r.Changed != 0 || len(r.Skipped) != 1 || r.Skipped[0].Why != skippedEvent {
		t.Errorf("the same policies: %+v", r)
	}
	stern := hosts(t, "{websocket: true}", map[string]string{"house.rego": sternAboutHosts})
	r := ran(t, stern, folder)
	wantChanges(t, r,
		"1 looser connection.websocket: false -> true",
		"1 stricter outcome: allow -> deny house.closed",
		"1 stricter outcome: allow -> deny house.reads")
	for _, c := range r.Changes {
		if e := c.Examples[0]; len(c.Rules) > 0 && c.Rules[0] == "house.reads" && (e.Text != "POST https://a.test:443/x" ||
			e.Tool != "connection" || e.User != "telegram/42" || e.Message != "It writes.") {
			t.Errorf("the example is %+v", e)
		}
	}
	back, err := Trial{Policies: live, Against: stern, Floor: bare}.Run(t.Context(), []string{folder})
	if must(t, err); back.Looser != 2 || back.Stricter != 1 {
		t.Errorf("the other way round: %+v", back)
	}
}
