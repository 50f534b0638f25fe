package enforcer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
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
	if want := "enforcer config lacks Approvals, Backends, Decider, Environ, Freezer, Ledger, Observer, Owner, Readiness, Recorder, " +
		"Sandboxes, Workspaces"; err == nil || err.Error() != want {
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
		"the egress network comes later": {allow(func(d *bailiff.Decision) { d.Backend.Network = "egress" }), request("true"),
			bailiff.Failed, bailiff.CodeUnsupported},
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
		len(b.tape.events) != 0 {
		t.Errorf("answer is %+v with %d events", a, len(b.tape.events))
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
		"denied":    {decision: bailiff.Denied("a.b", "No."), counted: "[deny]", inLog: 1},
		"not in it": {decision: allow(), prepare: func(b *bench) { b.tape.broken = errBoom }, counted: "[unrecorded]"},
		"only asked": {decision: allow(), act: func(t *testing.T, b *bench) { b.Decide(t.Context(), request("true")) },
			counted: "[allow]", inLog: 1},
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
		"an ordinary constant is set": {allow(func(d *bailiff.Decision) { d.Env.Set = map[string]string{"CI": "1"} }), request("true"), ""},
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
	cmd := b.fakeBackend.sandboxes()[0].cmds[0]
	if len(cmd.Env) != 1 || cmd.Env["GITHUB_TOKEN"].Reveal() != "ghp-12345678" {
		t.Errorf("the command got %v, want GITHUB_TOKEN alone", cmd.Env)
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
	if env := b.fakeBackend.sandboxes()[0].cmds[0].Env; len(env) != 1 || env["MY_KEY"].Reveal() != "m-12345678" {
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

func TestARequestWithVariablesIsAloneInItsSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.env = environ{"GITHUB_TOKEN": "ghp-12345678"} })
	b.Execute(t.Context(), request("sleep 99 &"), nil)
	sandbox := b.fakeBackend.sandboxes()[0]
	sandbox.left = 2

	b.judge.decision = allow(forward("GITHUB_TOKEN"))
	b.fakeBackend.run = func(_ context.Context, cmd backends.Command, _ func([]byte)) (backends.Exit, error) {
		if !cmd.Reap {
			t.Error("what the command leaves behind would keep its variables")
		}
		return backends.Exit{}, nil
	}
	req := request("git push")
	req.Env = []string{"GITHUB_TOKEN"}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { b.Execute(t.Context(), req, nil) })
	}
	all.Wait()
	if sandbox.killed != 2 || sandbox.most != 1 || len(b.fakeBackend.sandboxes()) != 1 {
		t.Errorf("killed %d of 2 leftovers, %d commands at once, %d sandboxes", sandbox.killed, sandbox.most,
			len(b.fakeBackend.sandboxes()))
	}
}

func TestWhoSharesASandbox(t *testing.T) {
	t.Parallel()
	other := func(change func(*bailiff.Request)) bailiff.Request {
		req := request("true")
		change(&req)
		return req
	}
	scope := func(s string) bailiff.Decision { return allow(func(d *bailiff.Decision) { d.Backend.Scope = s }) }
	for name, c := range map[string]struct {
		first, second bailiff.Decision
		other         bailiff.Request
		shared        bool
	}{
		"one session":                       {allow(), allow(), request("true"), true},
		"another session":                   {allow(), allow(), other(func(r *bailiff.Request) { r.Session.ID = "s2" }), false},
		"another caller claims the session": {allow(), allow(), other(func(r *bailiff.Request) { r.Caller = "codex" }), false},
		"another session of the same user":  {scope("user"), scope("user"), other(func(r *bailiff.Request) { r.Session.ID = "s2" }), true},
		"another user of the same session": {scope("user"), scope("user"), other(func(r *bailiff.Request) { r.Session.UserID = "43" }),
			false},
		"a request for itself": {scope("request"), scope("request"), request("true"), false},
		"another age": {allow(),
			allow(func(d *bailiff.Decision) { d.Backend.IdleSeconds, d.Backend.MaxSeconds = 7, 70 }), request("true"), true},
		"another limit of the command": {allow(), allow(func(d *bailiff.Decision) { d.Limits.TimeoutSeconds = 7 }),
			request("true"), true},
		"a sealed variable": {allow(), allow(forward("T"), func(d *bailiff.Decision) { d.Env.Sealed = []string{"T"} }),
			request("true"), false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = c.first })
			b.Execute(t.Context(), request("true"), nil)
			b.judge.decision = c.second
			b.Execute(t.Context(), c.other, nil)
			if shared := len(b.fakeBackend.sandboxes()) == 1; shared != c.shared {
				t.Errorf("shared is %v, want %v", shared, c.shared)
			}
		})
	}
}

func TestConcurrentFirstRequestsOpenOneSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { b.Execute(t.Context(), request("true"), nil) })
	}
	all.Wait()
	if n := len(b.fakeBackend.sandboxes()); n != 1 {
		t.Errorf("%d sandboxes were opened", n)
	}
}

func TestASandboxGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decision bailiff.Decision
		then     func(*bench)
	}{
		"when it was for one request": {allow(func(d *bailiff.Decision) { d.Backend.Scope = "request" }), func(*bench) {}},
		"when it was idle":            {allow(func(d *bailiff.Decision) { d.Backend.IdleSeconds = 0 }), func(*bench) {}},
		"when its session ends":       {allow(), func(b *bench) { _, _ = b.EndSession(context.Background(), "hermes", "s1") }},
		"when the sidecar stops":      {allow(), func(b *bench) { b.Close(context.Background()) }},
		"when an operator removes it": {allow(), func(b *bench) { b.RemoveSandbox("sandbox-1") }},
		"when an operator reaps":      {allow(), func(b *bench) { _, _ = b.Reap(context.Background()) }},
		"when its spec has changed": {allow(), func(b *bench) {
			b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.PIDs = 9 })
			b.Execute(context.Background(), request("true"), nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = c.decision })
			b.Execute(t.Context(), request("true"), nil)
			sandbox := b.fakeBackend.sandboxes()[0]
			c.then(b)
			select {
			case <-sandbox.done:
			case <-time.After(10 * time.Second):
				t.Error("it is still there")
			}
		})
	}
}

func TestADeadSandboxIsReplaced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Execute(t.Context(), request("true"), nil)
	_ = b.fakeBackend.sandboxes()[0].Close(t.Context())
	if a := b.Execute(t.Context(), request("true"), nil); a.Status != bailiff.Completed || a.SandboxID != "sandbox-2" {
		t.Errorf("answer is %+v", a)
	}
}

func TestAWorkingFolderThatIsNoneIsNotKept(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"src", "/a/../b", "/a/", "/a\x00b", "/a\xff", "/" + strings.Repeat("x", 5000)} {
		b := newBench(t)
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{Workdir: path}, nil
		}
		b.Execute(t.Context(), request("cd"), nil)
		b.Execute(t.Context(), request("ls"), nil)
		if at := b.fakeBackend.sandboxes()[0].cmds[1].Workdir; at != "" {
			t.Errorf("the session goes on in %q", at[:min(len(at), 40)])
		}
	}
}

func TestTheWorkingFolderIsKeptBetweenTheCommandsOfASession(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{Workdir: "/workspace/src"}, nil
		}
	})
	b.Execute(t.Context(), request("cd src"), nil)
	b.Execute(t.Context(), request("ls"), nil)
	elsewhere := request("ls")
	elsewhere.Session.ID = "s2"
	b.Execute(t.Context(), elsewhere, nil)
	sandboxes := b.fakeBackend.sandboxes()
	if got := sandboxes[0].cmds[1].Workdir; got != "/workspace/src" {
		t.Errorf("the second command ran in %q", got)
	}
	if got := sandboxes[1].cmds[0].Workdir; got != "" {
		t.Errorf("another session's command ran in %q", got)
	}
}

func TestTheFirstRequestOfASessionIsJudgedInTheFolderWhereItRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.fakeBackend.start = "/home/ana/project" })
	b.Execute(t.Context(), request("cat ../notes"), nil)
	b.Decide(t.Context(), request("cat ../notes"))
	if at := b.fakeBackend.sandboxes()[0].cmds[0].Workdir; at != b.fakeBackend.start {
		t.Errorf("it ran in %q, want %q", at, b.fakeBackend.start)
	}
	for _, i := range []int{1, len(b.judge.judged) - 1} {
		if at := b.judge.judged[i].Args.Workdir; at != b.fakeBackend.start {
			t.Errorf("judgement %d was in %q, want %q", i, at, b.fakeBackend.start)
		}
	}
	named := request("cat ../notes")
	named.Args.Workdir = "/tmp"
	b.Execute(t.Context(), named, nil)
	if at := b.judge.judged[len(b.judge.judged)-1].Args.Workdir; at != "/tmp" {
		t.Errorf("a request that names /tmp was judged in %q", at)
	}
}

func TestAFolderThatLeadsToAnotherBackendIsNotDroppedForTheFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.fakeBackend.start = "/home/ana"
		b.judge.inFolder = map[string]bailiff.Decision{"/home/ana": allow(func(d *bailiff.Decision) { d.Backend.Name = "podman" })}
	})
	if a := b.Execute(t.Context(), request("cat notes"), nil); a.Backend != "podman" {
		t.Errorf("it ran in %s, where the policies do not want it in that folder", a.Backend)
	}
	if at := b.fakeBackend.sandboxes()[0].cmds[0].Workdir; at != "/home/ana" {
		t.Errorf("it ran in %q, where it was not judged", at)
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

func TestARunningRequestOfAReplacedSandboxIsStillSeen(t *testing.T) {
	t.Parallel()
	inside, leave := make(chan struct{}), make(chan struct{})
	b := newBench(t, func(b *bench) {
		b.fakeBackend.run = func(_ context.Context, cmd backends.Command, _ func([]byte)) (backends.Exit, error) {
			if strings.Contains(strings.Join(cmd.Argv, " "), "long") {
				close(inside)
				<-leave
			}
			return backends.Exit{}, nil
		}
	})
	answered := make(chan bailiff.Answer)
	go func() { answered <- b.Execute(context.Background(), request("long"), nil) }()
	<-inside
	b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.PIDs = 9 })
	b.Execute(t.Context(), request("short"), nil)
	if n := len(b.Sandboxes()); n != 2 {
		t.Errorf("%d sandboxes are listed, want the old one and the new one", n)
	}
	if !spares(t, b, "sandbox-1") {
		t.Error("a sweep would kill the running command")
	}
	close(leave)
	if a := <-answered; a.Status != bailiff.Completed {
		t.Errorf("answer is %+v", a)
	}
}

// keeper is a fake backend whose workspaces outlive its sandboxes.
type keeper struct {
	*fakeBackend
	removing chan string   // told of each removal
	allow    chan struct{} // lets one removal end
	found    []string      // what a sweep finds
}

func (k *keeper) Workspaces(context.Context, string) ([]string, error) { return k.found, nil }

func (k *keeper) RemoveWorkspace(_ context.Context, _, workspace string) error {
	k.removing <- workspace
	<-k.allow
	return nil
}

func TestAWorkspaceIsNotUsedWhileItIsDeleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := &keeper{b.fakeBackend, make(chan string), make(chan struct{}), nil}
	b.config.Backends["docker"] = k
	b.Execute(t.Context(), request("true"), nil)
	if !b.RemoveSandbox("sandbox-1") {
		t.Fatal("there is no sandbox")
	}
	workspace := <-k.removing
	answered := make(chan bailiff.Answer)
	go func() { answered <- b.Execute(context.Background(), request("true"), nil) }()
	select {
	case a := <-answered:
		t.Errorf("a request ran on a workspace that is being deleted: %+v", a)
	case k.allow <- struct{}{}:
	}
	if a := <-answered; a.Status != bailiff.Completed || a.SandboxID != "sandbox-2" {
		t.Errorf("answer is %+v", a)
	}
	if got := b.fakeBackend.sandboxes()[1].spec.Workspace; got != workspace {
		t.Errorf("the new sandbox works on %s, want %s", got, workspace)
	}
	go func() { <-k.removing; k.allow <- struct{}{} }()
	b.Close(t.Context())
}

// registry resolves images, as an engine does.
type registry struct {
	*fakeBackend
	asked int
	means string // what its images are now
	fault error
}

func (r *registry) Resolve(_ context.Context, image string) (string, error) {
	r.asked++
	return image + "@sha256:1" + r.means, r.fault
}

func TestAnImageIsPinnedBeforeItsDecisionIsWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := &registry{fakeBackend: b.fakeBackend}
	b.config.Backends["docker"] = r
	b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Image = "debian" })
	for range 2 {
		b.Execute(t.Context(), request("true"), nil)
	}
	written, ok := b.tape.events[0].Result.(bailiff.Decision)
	if !ok || written.Backend.Image != "debian@sha256:1" || b.fakeBackend.sandboxes()[0].spec.Image != "debian@sha256:1" {
		t.Errorf("written is %+v", b.tape.events[0].Result)
	}
	if r.asked != 1 || len(b.fakeBackend.sandboxes()) != 1 {
		t.Errorf("resolved %d times into %d sandboxes, want once", r.asked, len(b.fakeBackend.sandboxes()))
	}
}

func TestAnImageThatCannotBeHadIsUnavailable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.config.Backends["docker"] = &registry{fakeBackend: b.fakeBackend, fault: errBoom}
	a := b.Execute(t.Context(), request("true"), nil)
	if a.Status != bailiff.Unavailable || len(b.fakeBackend.sandboxes()) != 0 || b.tape.kinds()[0] != api.DecisionEvent {
		t.Errorf("answer is %+v", a)
	}
}

func TestASealedRequestIsJudgedAndRunWithoutTheSessionsFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.env = environ{"T": "t-12345678"}
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{Workdir: "/workspace/src"}, nil
		}
	})
	b.Execute(t.Context(), request("cd src"), nil)
	plain := b.judge.decision
	b.judge.decision = allow(forward("T"), func(d *bailiff.Decision) { d.Env.Sealed = []string{"T"} })
	sealed := request("deploy")
	sealed.Env = []string{"T"}
	b.Execute(t.Context(), sealed, nil)
	b.judge.decision = plain
	b.Execute(t.Context(), request("ls"), nil)
	sandboxes := b.fakeBackend.sandboxes()
	if got := sandboxes[1].cmds[0].Workdir; got != "" {
		t.Errorf("the sealed request ran in %q", got)
	}
	if got := sandboxes[0].cmds[1].Workdir; got != "/workspace/src" {
		t.Errorf("the session forgot its folder: %q", got)
	}
}
