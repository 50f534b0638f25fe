package enforcer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/policies"
)

func TestNewNamesEverythingThatTheConfigLacks(t *testing.T) {
	t.Parallel()
	_, err := New(Config{})
	if want := "enforcer config lacks Approvals, Backends, Decider, Environ, Freezer, Ledger, Observer, Owner, Projects, Readiness, " +
		"Recorder, Sandboxes, Workspaces"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAnAllowedCommandRunsAndItsEndIsRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.fakeBackend.run = prints("hello\n") })
	var news []bailiff.Progress
	a := b.Execute(t.Context(), request("echo hello"), func(p bailiff.Progress) { news = append(news, p) })
	if a.Status != bailiff.Completed || string(a.Output) != "hello\n" || a.SandboxID != "sandbox-1" || a.DecisionID == "" {
		t.Errorf("answer is %+v", a)
	}
	if len(news) != 2 || news[0].Decision == nil || string(news[1].Output) != "hello\n" {
		t.Errorf("news are %+v, want the decision and then the output", news)
	}
	if got, want := b.tape.kinds(), []api.EventKind{api.DecisionEvent, api.ExecutionEvent}; !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

// What the policies have to say to the model stands once in the answer, and in the log with the decision.
func TestAnAnswerHoldsTheNotesOfThePolicies(t *testing.T) {
	t.Parallel()
	pnpm := bailiff.Advice{Rule: "team.pnpm", Message: "This repository uses pnpm."}
	b := newBench(t, func(b *bench) {
		b.judge.decision = allow(func(d *bailiff.Decision) {
			d.Advise = []bailiff.Advice{pnpm, {Rule: "team.npm", Message: pnpm.Message}}
		})
	})
	a := b.Execute(t.Context(), request("npm ls"), nil)
	if a.Status != bailiff.Completed || a.Message != pnpm.Message {
		t.Errorf("the answer says %q", a.Message)
	}
	if d, ok := b.tape.all()[0].Result.(bailiff.Decision); !ok || !slices.Contains(d.Advise, pnpm) {
		t.Errorf("the log has %+v", b.tape.all()[0].Result)
	}
}

// behind is a request that goes on in the background.
func behind(command string) bailiff.Request {
	req := request(command)
	req.Args.Background = true
	return req
}

func TestNothingRunsWithoutItsWayOut(t *testing.T) {
	t.Parallel()
	code := request("")
	code.Tool, code.Args = bailiff.ExecuteCode, bailiff.Args{Code: "print()"}
	for name, req := range map[string]bailiff.Request{"a command": request("true"), "a script": code, "a process": behind("true")} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) {
				b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Network = "egress" })
			})
			a := b.Execute(t.Context(), req, nil)
			if a.Status != bailiff.Unavailable || a.Code != bailiff.CodeBackend || !strings.Contains(a.Message, errNoWay.Error()) {
				t.Errorf("answer is %+v, want that there is no way out", a)
			}
			for _, s := range b.fakeBackend.sandboxes() {
				if len(s.cmds)+len(s.jobs)+len(s.talks) > 0 {
					t.Errorf("there ran %v, %v, %v", s.cmds, s.jobs, s.talks)
				}
			}
		})
	}
}

func TestNothingRunsUnlessAllowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decision bailiff.Decision
		request  bailiff.Request
		status   bailiff.Status
		code     string
	}{
		"the zero decision denies": {bailiff.Decision{}, request("true"), bailiff.Refused, ""},
		"an approval is not given": {allow(ask), request("true"), bailiff.ApprovalRequired, ""},
		"a backend that is not configured": {allow(func(d *bailiff.Decision) { d.Backend.Name = "moon" }), request("true"),
			bailiff.Refused, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = c.decision })
			a := b.Execute(t.Context(), c.request, nil)
			if a.Status != c.status || a.Code != c.code || a.Message == "" || a.ExitCode == 0 {
				t.Errorf("answer is %+v, want status %s code %q", a, c.status, c.code)
			}
			if len(b.fakeBackend.sandboxes()) != 0 {
				t.Error("a sandbox was opened")
			}
			if kinds := b.tape.kinds(); len(kinds) == 0 || kinds[0] != api.DecisionEvent {
				t.Errorf("recorded %v, want the decision first", kinds)
			}
		})
	}
}

type failingThrottle struct{}

func (failingThrottle) Admit(bailiff.Request) error { return errBoom }

func TestWhatIsKeptOutIsNeitherJudgedNorRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.config.Throttle = failingThrottle{}
	a := b.Execute(t.Context(), request("true"), nil)
	if a.Status != bailiff.Unavailable || a.Code != bailiff.CodeRateLimited || len(b.fakeBackend.sandboxes()) != 0 ||
		len(b.tape.all()) != 0 {
		t.Errorf("answer is %+v with %d events", a, len(b.tape.all()))
	}
}

func TestNothingRunsWhenItsDecisionCannotBeWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.tape.broken = errBoom })
	a := b.Execute(t.Context(), request("true"), nil)
	if a.Status != bailiff.Unavailable || a.Code != bailiff.CodeRecord || len(b.fakeBackend.sandboxes()) != 0 {
		t.Errorf("answer is %+v with %d sandboxes", a, len(b.fakeBackend.sandboxes()))
	}
}

// tally notes which decisions are counted, and how.
type tally struct {
	blind
	counted []string
}

func (c *tally) Decided(_ context.Context, _ bailiff.Request, d bailiff.Decision, _ time.Duration) {
	c.counted = append(c.counted, d.Outcome.String())
}

func (c *tally) Unrecorded(context.Context, bailiff.Request, bailiff.Decision, time.Duration) {
	c.counted = append(c.counted, "unrecorded")
}

func TestWhatIsCountedIsWhatTheLogHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decision bailiff.Decision
		prepare  func(*bench)
		act      func(*testing.T, *bench)
		counted  string
		inLog    int
	}{
		"allowed":   {decision: allow(), counted: "[allow]", inLog: 1},
		"denied":    {decision: bailiff.Denial("a.b", "No."), counted: "[deny]", inLog: 1},
		"not in it": {decision: allow(), prepare: func(b *bench) { b.tape.broken = errBoom }, counted: "[unrecorded]"},
		"only asked": {decision: allow(), act: func(t *testing.T, b *bench) { b.Decide(t.Context(), request("true")) },
			counted: "[allow]", inLog: 1},
		"only asked, and not in it": {decision: allow(), prepare: func(b *bench) { b.tape.broken = errBoom }, counted: "[deny]",
			act: func(t *testing.T, b *bench) { b.Decide(t.Context(), request("true")) }},
		"an operator's word": {decision: allow(func(d *bailiff.Decision) { d.Outcome = bailiff.Deny }), counted: "[allow]", inLog: 1,
			act: func(t *testing.T, b *bench) {
				b.BreakGlass(t.Context(), request("true"), api.BreakGlass{By: "ana"})
			}},
	} {
		t.Run(name, func(t *testing.T) {
			counts := &tally{}
			b := newBench(t, func(b *bench) {
				b.judge.decision = c.decision
				if c.prepare != nil {
					c.prepare(b)
				}
			})
			b.config.Observer = counts
			if c.act == nil {
				b.Execute(t.Context(), request("true"), nil)
			} else {
				c.act(t, b)
			}
			inLog := 0
			for _, kind := range b.tape.kinds() {
				if kind == api.DecisionEvent {
					inLog++
				}
			}
			if got := fmt.Sprint(counts.counted); got != c.counted || inLog != c.inLog {
				t.Errorf("counted %s with %d in the log, want %s and %d", got, inLog, c.counted, c.inLog)
			}
		})
	}
}

func TestABackendThatFailsIsUnavailable(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.fakeBackend.fault = fmt.Errorf("%w: the daemon is down", backends.ErrUnavailable) })
	a := b.Execute(t.Context(), request("true"), nil)
	if a.Status != bailiff.Unavailable || !strings.Contains(a.Message, "the daemon is down") || a.Backend != "docker" {
		t.Errorf("answer is %+v", a)
	}
	if b.Readiness()["docker"] != nil {
		t.Error("one failure makes the backend unready, whoever's it is")
	}
}

// No policy lifts the floor: each decision here is one that a hostile or broken
// bundle could give.
func TestTheFloorHoldsUnderHostilePolicies(t *testing.T) {
	t.Parallel()
	cli := request("true")
	cli.Session.Platform = "cli"
	for name, c := range map[string]struct {
		decision bailiff.Decision
		request  bailiff.Request
		rule     string // of the denial, or none
	}{
		"local for a chat": {allow(func(d *bailiff.Decision) { d.Backend.Name = "local" }), request("true"), ruleUnisolated},
		"local for cli":    {allow(func(d *bailiff.Decision) { d.Backend.Name = "local" }), cli, ""},
		"a preloaded library set": {allow(func(d *bailiff.Decision) { d.Env.Set = map[string]string{"LD_PRELOAD": "/x.so"} }),
			request("true"), ruleVariable},
		"a search path set": {allow(func(d *bailiff.Decision) { d.Env.Set = map[string]string{"PATH": "/tmp"} }),
			request("true"), ruleVariable},
		"lower case does not help": {allow(func(d *bailiff.Decision) { d.Env.Set = map[string]string{"ld_preload": "/x.so"} }),
			request("true"), ruleVariable},
		"a runtime of a backend that has none": {allow(func(d *bailiff.Decision) { d.Backend.Runtime = "runsc" }), request("true"),
			ruleRuntime},
		"an ordinary constant is set": {allow(func(d *bailiff.Decision) { d.Env.Set = map[string]string{"CI": "1"} }),
			request("true"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = c.decision })
			a := b.Execute(t.Context(), c.request, nil)
			if c.rule == "" {
				if a.Status != bailiff.Completed {
					t.Errorf("answer is %+v, want it to run", a)
				}
				return
			}
			if a.Status != bailiff.Refused || a.Decision.Denials[0].Rule != c.rule || len(b.fakeBackend.sandboxes()) != 0 {
				t.Errorf("answer is %+v, want a denial by %s", a, c.rule)
			}
		})
	}
}

// A value that may never enter is no stand-in's either, but for a provider's key whose hosts
// the policies name.
func TestNoPolicyLetsOtherKeysBeSwapped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		network string
		hosts   []string
		rule    string // by which it stays out
	}{
		"GITHUB_TOKEN":       {"egress", []string{"github.com"}, ""},
		"ANTHROPIC_API_KEY":  {"egress", []string{"api.anthropic.com"}, ""},
		"OPENAI_API_KEY":     {"egress", nil, ruleVariable},
		"GROQ_API_KEY":       {"full", []string{"api.groq.com"}, ruleNoWay},
		"NPM_TOKEN":          {"none", []string{"registry.npmjs.org"}, ruleNoWay},
		"OPENAI_BASE_URL":    {"egress", []string{"api.openai.com"}, ruleVariable},
		"TELEGRAM_BOT_TOKEN": {"egress", []string{"api.telegram.org"}, ruleVariable},
		"BAILIFF_TOKEN":      {"egress", []string{"bailiff.example"}, ruleVariable},
		"MODAL_TOKEN_SECRET": {"egress", []string{"api.modal.com"}, ruleVariable},
		"LD_PRELOAD":         {"egress", []string{"github.com"}, ruleVariable},
		"XAI_API_KEY":        {"egress", []string{"api.x.ai"}, ruleVariable}, // from which a backend has its own
	} {
		d := allow(forward(name), func(d *bailiff.Decision) {
			d.Backend.Network = c.network
			d.Env.Swap = []bailiff.Swap{{Name: name, Hosts: c.hosts, In: []string{"authorization"}}}
		})
		req := request("true")
		req.Env = []string{name}
		under := Floor{[]string{"XAI_API_KEY"}}.Under(req, d).Env
		if c.rule == "" && (len(under.Forward) != 1 || len(under.Swap) != 1) {
			t.Errorf("%s stays out: %+v", name, under)
		}
		if c.rule != "" && (len(under.Forward)+len(under.Swap) != 0 || len(under.Withheld) != 1 || under.Withheld[0].Rule != c.rule) {
			t.Errorf("%s: %+v, want it to stay out by %s", name, under, c.rule)
		}
	}
}

func TestWhatIsSwappedIsAloneUnlessEachOfItsVariablesSaysOtherwise(t *testing.T) {
	t.Parallel()
	near, other := bailiff.Swap{Name: "NEAR", NotAlone: true}, bailiff.Swap{Name: "OTHER"}
	for name, c := range map[string]struct {
		forward []string
		swap    []bailiff.Swap
		alone   bool
	}{
		"nothing enters":              {nil, nil, false},
		"a stand-in that may be near": {[]string{"NEAR"}, []bailiff.Swap{near}, false},
		"a stand-in that may not":     {[]string{"OTHER"}, []bailiff.Swap{other}, true},
		"one of each":                 {[]string{"NEAR", "OTHER"}, []bailiff.Swap{near, other}, true},
		"a value beside it":           {[]string{"NEAR", "CI"}, []bailiff.Swap{near}, true},
	} {
		m := &judged{}
		m.Decision.Env.Forward, m.Decision.Env.Swap = c.forward, c.swap
		if m.mustBeAlone() != c.alone {
			t.Errorf("%s: alone is not %v", name, c.alone)
		}
	}
}

func TestAVariableWithoutAStandInKeepsItsRequestFromRunning(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.env = environ{"NPM_TOKEN": "short"}
		b.judge.decision = allow(forward("NPM_TOKEN"), func(d *bailiff.Decision) {
			d.Backend.Network = "egress"
			d.Env.Swap = []bailiff.Swap{{Name: "NPM_TOKEN", Hosts: []string{"registry.npmjs.org"}, In: []string{"authorization"}}}
		})
	})
	req := request("npm publish")
	req.Env = []string{"NPM_TOKEN"}
	a := b.Execute(t.Context(), req, nil)
	if a.Status != bailiff.Unavailable || !strings.Contains(a.Message, "making a stand-in for NPM_TOKEN") {
		t.Errorf("answer is %+v", a)
	}
}

func TestOnlyRequestedVariablesAboveTheFloorEnter(t *testing.T) {
	t.Parallel()
	everything := environ{"PATH": "/evil", "LD_PRELOAD": "/x.so", "PYTHONPATH": "/x", "BAILIFF_TOKEN": "t-12345678",
		"ANTHROPIC_API_KEY": "sk-12345678", "GITHUB_TOKEN": "ghp-12345678", "NPM_TOKEN": "npm-12345678", "UNASKED": "u-12345678"}
	b := newBench(t, func(b *bench) {
		b.env = everything
		b.judge.decision = allow(forward("PATH", "LD_PRELOAD", "PYTHONPATH", "BAILIFF_TOKEN", "ANTHROPIC_API_KEY", "GITHUB_TOKEN",
			"NPM_TOKEN", "UNASKED"),
			func(d *bailiff.Decision) { d.Env.Withheld = []bailiff.Withheld{{Name: "NPM_TOKEN", Rule: "mine"}} })
	})
	req := request("git push")
	req.Env = []string{"PATH", "LD_PRELOAD", "PYTHONPATH", "BAILIFF_TOKEN", "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "NPM_TOKEN"}
	a := b.Execute(t.Context(), req, nil)
	if env := entered(b.fakeBackend.sandboxes()[0].cmds[0]); len(env) != 1 || env["GITHUB_TOKEN"].Reveal() != "ghp-12345678" {
		t.Errorf("the command got %v, want GITHUB_TOKEN alone", env)
	}
	want := []bailiff.Withheld{{Name: "NPM_TOKEN", Rule: "mine"}, {Name: "PATH", Rule: ruleVariable},
		{Name: "LD_PRELOAD", Rule: ruleVariable},
		{Name: "PYTHONPATH", Rule: ruleVariable}, {Name: "BAILIFF_TOKEN", Rule: ruleVariable},
		{Name: "ANTHROPIC_API_KEY", Rule: ruleVariable},
		{Name: "UNASKED", Rule: ruleNotRequested}}
	if !slices.Equal(a.Decision.Env.Withheld, want) {
		t.Errorf("withheld is %v, want %v", a.Decision.Env.Withheld, want)
	}
}

func TestWhatTheBackendsHaveTheirCredentialsFromNeverEnters(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.env = environ{"CLOUD_KEY": "k-12345678", "cloud_key": "k-12345678", "MY_KEY": "m-12345678"}
		b.judge.decision = allow(forward("CLOUD_KEY", "cloud_key", "MY_KEY"))
	})
	b.config.Credentials = []string{"CLOUD_KEY"}
	req := request("deploy")
	req.Env = []string{"CLOUD_KEY", "cloud_key", "MY_KEY"}
	a := b.Execute(t.Context(), req, nil)
	if env := entered(b.fakeBackend.sandboxes()[0].cmds[0]); len(env) != 1 || env["MY_KEY"].Reveal() != "m-12345678" {
		t.Errorf("the command got %v, want MY_KEY alone", env)
	}
	if want := []bailiff.Withheld{{Name: "CLOUD_KEY", Rule: ruleVariable},
		{Name: "cloud_key", Rule: ruleVariable}}; !slices.Equal(a.Decision.Env.Withheld, want) {
		t.Errorf("withheld is %v, want %v", a.Decision.Env.Withheld, want)
	}
	b.judge.says(allow(func(d *bailiff.Decision) { d.Env.Set = map[string]string{"CLOUD_KEY": "x"} }))
	if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.Refused || a.Decision.Denials[0].Rule != ruleVariable {
		t.Errorf("where the policies set it the answer is %+v", a)
	}
}

func TestForwardedValuesAreRedactedFromTheOutput(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.env = environ{"GITHUB_TOKEN": "ghp-12345678"}
		b.judge.decision = allow(forward("GITHUB_TOKEN"))
		b.fakeBackend.run = func(_ context.Context, _ backends.Command, out func([]byte)) (backends.Exit, error) {
			out([]byte("token ghp-12"))
			out([]byte("345678 end"))
			return backends.Exit{}, nil
		}
	})
	req := request("env")
	req.Env = []string{"GITHUB_TOKEN"}
	var streamed []byte
	a := b.Execute(t.Context(), req, func(p bailiff.Progress) { streamed = append(streamed, p.Output...) })
	if want := "token [GITHUB_TOKEN redacted] end"; string(a.Output) != want || string(streamed) != want {
		t.Errorf("output is %q, streamed %q, want %q", a.Output, streamed, want)
	}
}

func TestATimeoutIsTheShorterOfWhatIsAskedAndAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asked, allowed int
		want           time.Duration
	}{{0, 60, time.Minute}, {5, 60, 5 * time.Second}, {90, 60, time.Minute}} {
		if got := timeout(c.asked, c.allowed); got != c.want {
			t.Errorf("asked %d, allowed %d: got %s", c.asked, c.allowed, got)
		}
	}
}

func TestClosingInterruptsWhatStillRuns(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	b := newBench(t, func(b *bench) {
		b.fakeBackend.run = func(ctx context.Context, _ backends.Command, _ func([]byte)) (backends.Exit, error) {
			close(started)
			<-ctx.Done()
			return backends.Exit{Interrupted: true}, nil
		}
	})
	answered := make(chan bailiff.Answer)
	go func() { answered <- b.Execute(context.Background(), request("sleep 99"), nil) }()
	<-started
	patience, cancel := context.WithCancel(t.Context())
	cancel()
	go b.Close(patience)
	if a := <-answered; a.Status != bailiff.Interrupted || a.ExitCode != bailiff.ExitInterrupted {
		t.Errorf("answer is %+v", a)
	}
	if a := b.Execute(t.Context(), request("true"), nil); a.Code != bailiff.CodeShutdown {
		t.Errorf("a late request was answered %+v", a)
	}
}

// The tables of the shipped policies name what never enters; the floor holds the
// same line under policies that do not.
func TestTheFloorForbidsWhatTheShippedTablesForbid(t *testing.T) {
	t.Parallel()
	text, err := policies.FS.ReadFile("data.yaml")
	must(t, err)
	var data struct {
		Bailiff struct {
			Tables struct {
				Never struct {
					Names, Prefixes map[string]string
				} `yaml:"env_never"`
			}
		}
	}
	must(t, yaml.Unmarshal(text, &data))
	never := data.Bailiff.Tables.Never
	if len(never.Names) == 0 || len(never.Prefixes) == 0 {
		t.Fatal("the tables name nothing")
	}
	for name := range never.Names {
		if !forbidden(name) {
			t.Errorf("%s is not on the floor", name)
		}
	}
	for prefix := range never.Prefixes {
		if !forbidden(prefix + "X") {
			t.Errorf("%sX is not on the floor", prefix)
		}
	}
}
