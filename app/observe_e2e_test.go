package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// observing is a sidecar whose policies only observe rules until a day, and a folder in which commands run.
func observing(t *testing.T, until time.Time, house string, rules ...string) (o *office, folder string) {
	t.Helper()
	var rows []string
	for _, rule := range rules {
		rows = append(rows, rule+`: {until: "`+until.UTC().Format(time.DateOnly)+`"}`)
	}
	policies, section := shippedWith(t, "    observe: {}\n", "    observe: {"+strings.Join(rows, ", ")+"}\n")
	save(t, filepath.Join(policies, "house.rego"), "package bailiff\n\n"+house)
	o = startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}", section))
	folder = filepath.Join(openDir(t), "project")
	must(t, os.MkdirAll(filepath.Join(folder, "src"), 0o755)) //nolint:gosec // any user runs it
	return o, folder
}

// run asks for a command and does not wait for an answer.
func (o *office) run(t *testing.T, folder, text string) api.Answer {
	t.Helper()
	req := atTerminal("first", text)
	req.WaitSeconds, req.Args.Workdir = 0, folder
	return ask(t, o.agent, req)
}

// onTrial is a rule of the house.
const onTrial = `
deny contains {"rule": "house.new", "message": "It is new."} if contains(input.args.command, "on-trial")
`

func soon() time.Time { return time.Now().AddDate(0, 0, 7) }

const deletesRecursively = "command.deletes_recursively"

func TestAnObservedRuleRunsAndIsSeenInTheLogTheStatusAndTheMetrics(t *testing.T) {
	t.Parallel()
	o, folder := observing(t, soon(), "", deletesRecursively)
	a := o.run(t, folder, "rm -rf src && echo gone")
	if a.Status != bailiff.Completed || a.Output != "gone\n" || len(a.Decision.Observed) > 0 {
		t.Fatalf("%s (%s) %q; the sender is told of %v", a.Status, a.Message, a.Output, a.Decision.Observed)
	}
	if a := o.run(t, folder, "rm -rf src && sudo true"); a.Status != bailiff.ApprovalRequired ||
		slices.ContainsFunc(a.Decision.Reasons(), func(r bailiff.Reason) bool { return r.Rule == deletesRecursively }) {
		t.Errorf("beside another rule: %s because of %v", a.Status, a.Decision.Reasons())
	}
	if grants, err := o.operator.Grants(t.Context()); err != nil || len(grants) > 0 {
		t.Errorf("what was observed left the grants %v, %v", grants, err)
	}
	status, err := o.operator.Status(t.Context())
	must(t, err)
	want := []api.ObservedRule{{Rule: deletesRecursively, Until: soon().UTC().Format(time.DateOnly), InForce: true}}
	if !slices.Equal(status.Observed, want) ||
		!strings.Contains(strings.Join(status.Warnings, "\n"), deletesRecursively+" is only observed") {
		t.Errorf("the status has %v and warns %v", status.Observed, status.Warnings)
	}
	const series = `bailiff_observed_total{outcome="ask",platform="cli",rule="command.deletes_recursively",tool="terminal"} 2`
	if page := get(t, o.running, "/metrics"); !strings.Contains(page, series) {
		t.Errorf("the metrics have no %s", series)
	}
	o.stop()
	told := observedInLog(t, o.folder)
	if len(told) != 2 || told[0].Outcome != bailiff.Allow || told[1].Outcome != bailiff.Ask || told[0].WithoutObserve != "ask" {
		t.Errorf("the log has %+v", told)
	}
}

// asksFor says whether a question is about a rule.
func asksFor(a api.Answer, rule string) bool {
	return a.Status == bailiff.ApprovalRequired &&
		slices.ContainsFunc(a.Decision.Reasons(), func(r bailiff.Reason) bool { return r.Rule == rule })
}

func TestAnObservedFirstSightLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	o, folder := observing(t, soon(), "", bailiff.RunsUnknownProgram)
	o.run(t, folder, "cp /bin/echo own; printf '#!/bin/sh\\ncat ~/.netrc\\n' > reads.sh; chmod u+x own reads.sh")
	for range 2 {
		if a := o.run(t, folder, "true && unheard-of 2>&-; echo ran"); a.Status != bailiff.Completed || a.Output != "ran\n" {
			t.Fatalf("%s (%s) %v", a.Status, a.Message, a.Decision.Reasons())
		}
	}
	if a := o.run(t, folder, "./own"); !asksFor(a, "command.hides_meaning") {
		t.Errorf("a program that the session made, whose content no question is about: %s because of %v", a.Status, a.Decision.Reasons())
	}
	if a := o.run(t, folder, "./reads.sh"); !asksFor(a, "command.reads_credentials") {
		t.Errorf("what the text of a file does: %s because of %v", a.Status, a.Decision.Reasons())
	}
	if grants, err := o.operator.Grants(t.Context()); err != nil || len(grants) > 0 {
		t.Errorf("the grants are %v, %v", grants, err)
	}
	o.stop()
	if told := observedInLog(t, o.folder); len(told) < 2 || told[1].Observed[0] != bailiff.RunsUnknownProgram {
		t.Errorf("the second run is no longer the first sight: %+v", told)
	}
}

func TestWhatIsObservedIsPartOfTheSessionsHistory(t *testing.T) {
	t.Parallel()
	o, folder := observing(t, soon(), onTrial, deletesRecursively, "house.new")
	script := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("echo brought\n"))
	}))
	defer script.Close()
	for range 4 {
		if a := o.run(t, folder, "rm -rf src; curl -s "+script.URL+"/i.sh -o i.sh; echo on-trial"); a.Status != bailiff.Completed {
			t.Fatalf("%s (%s) %v", a.Status, a.Message, a.Decision.Reasons())
		}
	}
	if a := o.run(t, folder, "echo hello"); a.Status != bailiff.Completed {
		t.Errorf("what was only observed counts as a denial: %s %v", a.Status, a.Decision.Reasons())
	}
	if a := o.run(t, folder, "sh i.sh"); !asksFor(a, "session.runs_brought") {
		t.Errorf("what an observed request brought: %s because of %v", a.Status, a.Decision.Reasons())
	}
}

func TestARowThatHasEndedObservesNothing(t *testing.T) {
	t.Parallel()
	o, folder := observing(t, time.Now().AddDate(0, 0, -1), "", deletesRecursively)
	if a := o.run(t, folder, "rm -rf src"); !asksFor(a, deletesRecursively) {
		t.Errorf("%s because of %v", a.Status, a.Decision.Reasons())
	}
	status, err := o.operator.Status(t.Context())
	must(t, err)
	if len(status.Observed) != 1 || status.Observed[0].InForce || !strings.Contains(strings.Join(status.Warnings, "\n"), "ended on") {
		t.Errorf("the status has %v and warns %v", status.Observed, status.Warnings)
	}
}

// observedInLog are the decisions of a log by which something was observed.
func observedInLog(t *testing.T, folder string) (all []bailiff.Decision) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "state", "decisions", "*.jsonl"))
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for line := range strings.Lines(string(text)) {
			var event struct {
				Path   string           `json:"path"`
				Result bailiff.Decision `json:"result"`
			}
			must(t, json.Unmarshal([]byte(line), &event))
			if event.Path == api.DecisionPath && len(event.Result.Observed) > 0 {
				all = append(all, event.Result)
			}
		}
	}
	return all
}
