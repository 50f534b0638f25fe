package corpus_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts"
	"github.com/bailiff-dev/bailiff/internal/judging/corpus"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

// opened are the shipped policies, compiled once for all tests.
var opened = sync.OnceValues(func() (*pdp.PDP, error) {
	return pdp.Open(context.Background(), pdp.Config{EvalTimeout: time.Minute, Home: "/home/tester"})
})

func TestTheShippedPoliciesGiveEveryCaseItsOutcome(t *testing.T) {
	judge, err := opened()
	must(t, err)
	for _, c := range cases(t) {
		holds(t, judge, c, circumstances(c))
	}
}

func TestFirstSightsAreAskedAboutWhereTheHostWasLookedAt(t *testing.T) {
	judge, err := opened()
	must(t, err)
	for _, c := range cases(t) {
		at := circumstances(c)
		at.Ground.Sought = true
		switch c.Theme {
		case "first_sights":
			c.Outcome, c.Rule = bailiff.Ask, bailiff.RunsUnknownProgram
			holds(t, judge, c, at)
		case "sights":
			holds(t, judge, c, at)
		}
	}
}

// holds says that a case gets its outcome, by its rule.
func holds(t *testing.T, judge *pdp.PDP, c corpus.Case, at bailiff.Circumstances) {
	t.Helper()
	d := judge.Decide(context.Background(), request(c), at).Decision
	if d.Outcome != c.Outcome || !gives(d, c.Rule) {
		t.Errorf("%s: %q\n got %v %v\nwant %v %s\n%s", c.Theme, c.Command+c.Code, d.Outcome, reasons(d), c.Outcome, c.Rule, read(t, c))
	}
}

func TestTheTextsGiveTheFactsThatCasesName(t *testing.T) {
	for _, c := range cases(t) {
		programs, features, complete := known(c)
		for _, p := range c.Programs {
			if !slices.Contains(programs, p) {
				t.Errorf("%s: %q calls %v, want %s among them", c.Theme, c.Command+c.Code, programs, p)
			}
		}
		for _, f := range c.Features {
			if !slices.Contains(features, f) {
				t.Errorf("%s: %q has the features %v, want %s among them", c.Theme, c.Command+c.Code, features, f)
			}
		}
		if c.Complete != nil && *c.Complete != complete {
			t.Errorf("%s: %q: complete is %v", c.Theme, c.Command+c.Code, complete)
		}
	}
}

// Four times the calls may take about four times as long: what compares every call
// with every other one would run into the time limit in long scripts.
func TestLongScriptsAreJudgedInProportionToTheirLength(t *testing.T) {
	judge, err := opened()
	must(t, err)
	var short, long time.Duration
	for range 3 { // a collection of garbage may fall on one of them
		short, long = quickest(t, judge, script(200)), quickest(t, judge, script(800))
		if long < 8*short {
			return
		}
	}
	t.Errorf("200 calls take %v, 800 take %v, want about four times as long", short, long)
}

// script is ordinary work, with so many calls of a dozen programs.
func script(calls int) corpus.Case {
	var text strings.Builder
	lines := []string{"mkdir -p build/%d", "cp a%d.txt b%d.txt", "git add f%d.go", "grep -n TODO src/f%d.go", "sed -i s/a/b/ f%d.go",
		"rm /workspace/f%d.txt", "echo %d > /workspace/f%d.txt", "env A=%d make", "go test ./pkg%d", "cat g%d.txt | sort"}
	for i := range calls * len(lines) / (len(lines) + 2) {
		text.WriteString(strings.ReplaceAll(lines[i%len(lines)], "%d", strconv.Itoa(i)) + "\n")
	}
	return corpus.Case{Command: text.String(), Platform: "cli"}
}

// quickest is the processor's time, which leaves out what else the machine does.
func quickest(t *testing.T, judge *pdp.PDP, c corpus.Case) time.Duration {
	t.Helper()
	least := time.Hour
	for round := range 2 {
		c.Command += "echo " + strconv.Itoa(round) + "\n" // a text that was judged before may be remembered
		began := spent(t)
		if d := judge.Decide(context.Background(), request(c), circumstances(c)).Decision; d.Outcome != bailiff.Allow {
			t.Fatalf("a script of ordinary work: got %v %v, want allow", d.Outcome, reasons(d))
		}
		least = min(least, spent(t)-began)
	}
	return least
}

// spent is what this process has had of the processors so far.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func TestNoCaseStandsTwice(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cases(t) {
		key := c.Platform + "\x00" + c.Command + "\x00" + c.Code + "\x00" + c.Rule
		if seen[key] {
			t.Errorf("%s: %q stands twice", c.Theme, c.Command+c.Code)
		}
		seen[key] = true
	}
}

func cases(t *testing.T) []corpus.Case {
	t.Helper()
	all, err := corpus.Cases()
	must(t, err)
	if len(all) < 200 {
		t.Fatalf("the corpus has %d cases, want at least 200", len(all))
	}
	return all
}

func request(c corpus.Case) bailiff.Request {
	r := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: c.Command}}
	if c.Code != "" {
		r = bailiff.Request{Tool: bailiff.ExecuteCode, Args: bailiff.Args{Code: c.Code}}
	}
	r.Session = bailiff.Session{ID: "corpus", Platform: c.Platform}
	return r
}

// circumstances are the host for the command line and a sandbox for the rest.
func circumstances(c corpus.Case) bailiff.Circumstances {
	at := bailiff.Circumstances{Time: time.Unix(0, 0), Backends: map[string]bailiff.BackendState{"local": {Ready: true}}}
	if c.Platform != "cli" {
		at.Backends["docker"] = bailiff.BackendState{Isolated: true, Ready: true}
	}
	return at
}

func reasons(d bailiff.Decision) []bailiff.Reason {
	if d.Approval == nil {
		return d.Denials
	}
	return append(slices.Clone(d.Denials), d.Approval.Reasons...)
}

func gives(d bailiff.Decision, rule string) bool {
	return rule == "" || slices.ContainsFunc(reasons(d), func(r bailiff.Reason) bool { return r.Rule == rule })
}

func known(c corpus.Case) (programs, features []string, complete bool) {
	if c.Code != "" {
		f := facts.Python(c.Code, facts.Place{})
		return f.Calls, f.Features, f.Complete
	}
	f := facts.Shell(c.Command, facts.Place{})
	return f.Programs, f.Features, f.Complete
}

// read shows the facts of a case that went wrong.
func read(t *testing.T, c corpus.Case) []byte {
	t.Helper()
	var f any = facts.Shell(c.Command, facts.Place{Home: "/home/tester"})
	if c.Code != "" {
		f = facts.Python(c.Code, facts.Place{Home: "/home/tester"})
	}
	text, err := json.Marshal(f)
	must(t, err)
	return text
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
