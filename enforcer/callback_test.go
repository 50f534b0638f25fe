package enforcer

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// tools lets scripts call tools by these names.
func tools(names ...string) func(*bailiff.Decision) {
	return func(d *bailiff.Decision) { d.Tools = names }
}

// called is what became of a script's one call.
type called struct {
	answer       bailiff.Answer
	value, fault string
}

// calling runs a script that makes one call.
func (b *bench) calling(t *testing.T, tool, arguments string, news func(bailiff.Progress)) (c called) {
	t.Helper()
	b.fakeBackend.script = func(p *python) int {
		c.value, c.fault = p.call(tool, arguments)
		return 0
	}
	req := code("call")
	req.Peer, req.WaitSeconds, req.ID = "uid:7", 5, "r1"
	c.answer = b.Execute(t.Context(), req, news)
	if c.answer.Status != bailiff.Completed || c.answer.ToolCalls != 1 {
		t.Errorf("the script was answered %+v", c.answer)
	}
	return c
}

// hear collects news.
func hear() (func(bailiff.Progress), func() []bailiff.Progress) {
	var mu sync.Mutex
	var all []bailiff.Progress
	return func(p bailiff.Progress) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, p)
		}, func() []bailiff.Progress {
			mu.Lock()
			defer mu.Unlock()
			return all
		}
}

func TestACallIsARequestOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.judge.decision = allow(tools("terminal"))
		b.fakeBackend.run = func(_ context.Context, cmd backends.Command, out func([]byte)) (backends.Exit, error) {
			out([]byte("\xff" + cmd.Workdir))
			return backends.Exit{Code: 3}, nil
		}
	})
	c := b.calling(t, "terminal", `{"command": "make", "workdir": "/tmp", "timeout": 1.5}`, nil)
	if want := `{"exit_code":3,"message":"","output":"\ufffd/tmp","output_base64":"/y90bXA=","status":"completed"}`; c.value != want {
		t.Errorf("the script got %s %s, want %s", c.value, c.fault, want)
	}
	req := b.judge.judged[len(b.judge.judged)-1]
	want := bailiff.Request{Tool: bailiff.Terminal, Caller: "hermes", Peer: "uid:7", WaitSeconds: 5, Session: request("").Session,
		Args: bailiff.Args{Command: "make", Workdir: "/tmp", Timeout: 2}}
	if req.Digest() != want.Digest() || req.ID != "" || len(req.Env) != 0 || req.WaitSeconds != 5 {
		t.Errorf("judged was %+v, want %+v", req, want)
	}
	kinds := b.tape.kinds()
	if len(kinds) != 4 || kinds[1] != api.DecisionEvent || kinds[2] != api.ExecutionEvent {
		t.Errorf("recorded are %v, want the call's decision and end within the script's", kinds)
	}
	if n := len(b.fakeBackend.sandboxes()); n != 1 {
		t.Errorf("%d sandboxes were opened", n)
	}
}

func TestACallIsJudged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool, arguments string
		says            string
	}{
		"denied":     {"terminal", `{"command": "rm -rf /"}`, `"status":"denied"`},
		"no command": {"terminal", `{"command": ""}`, "want a command"},
		"a number as command": {"terminal", `{"command": 5}`,
			"want text as command and as workdir and a number as timeout, but command is a number"},
		"an unknown argument": {"terminal", `{"command": "ls", "background": true}`, "unknown field"},
		"a relative folder":   {"terminal", `{"command": "ls", "workdir": "x"}`, "want an absolute path"},
		"no object":           {"terminal", `["ls"]`, "reading the arguments"},
		"a very long folder": {"terminal", `{"command": "ls", "workdir": "/` + strings.Repeat("a", bailiff.MaxWorkdir) + `"}`,
			"want a workdir of at most 4096 bytes"},
		"a negative timeout":         {"terminal", `{"command": "ls", "timeout": -1}`, "want a timeout"},
		"not offered":                {"process", `{}`, "the policies do not let scripts of this session call"},
		"not registered":             {"web_search", `{}`, "registered no tool"},
		"registered, but not heard":  {"read_mail", `{}`, "nobody listens"},
		"registered, but not let in": {"send_mail", `{}`, "the policies do not let scripts of this session call"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = allow(tools("terminal", "web_search", "read_mail")) })
			b.config.Decider = denier{b.judge}
			must(t, b.RegisterTools("hermes", "s1", []string{"read_mail", "send_mail"}))
			got := b.calling(t, c.tool, c.arguments, nil)
			if !strings.Contains(got.value+got.fault, c.says) {
				t.Errorf("the script got %s %s, want %s", got.value, got.fault, c.says)
			}
			if n := b.fakeBackend.commands(); n != 0 {
				t.Errorf("%d commands ran", n)
			}
		})
	}
}

// denier is a judge who denies what removes.
type denier struct{ *judge }

func (d denier) Decide(ctx context.Context, req bailiff.Request, at bailiff.Circumstances) bailiff.Judgement {
	if strings.HasPrefix(req.Args.Command, "rm ") {
		return bailiff.Judgement{Decision: bailiff.Denial("test", "It removes.")}
	}
	return d.judge.Decide(ctx, req, at)
}

// asker is a judge who asks about commands, which run these files.
type asker struct {
	*judge
	files []string
}

func (a asker) Decide(ctx context.Context, req bailiff.Request, at bailiff.Circumstances) bailiff.Judgement {
	j := a.judge.Decide(ctx, req, at)
	if req.Tool != bailiff.ExecuteCode {
		ask(&j.Decision)
		j.Files = a.files
	}
	return j
}

func TestACallThatHumansMustApproveWaitsForThem(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.judge.decision = allow(tools("terminal"))
		b.fakeBackend.run = prints("pushed")
	})
	b.config.Decider, b.human.answer = asker{b.judge, nil}, always(bailiff.ApprovalApproved)
	news, heard := hear()
	c := b.calling(t, "terminal", `{"command": "git push"}`, news)
	if !strings.Contains(c.value, `"output":"pushed"`) || len(b.human.asked) != 1 || b.human.asked[0].Request.Args.Command != "git push" {
		t.Errorf("the script got %s %s, asked was %+v", c.value, c.fault, b.human.asked)
	}
	decisions, approvals := 0, 0
	for _, p := range heard() {
		if p.Decision != nil {
			decisions++
		}
		if p.Approval != nil {
			approvals++
		}
	}
	if decisions != 1 || approvals != 2 {
		t.Errorf("heard of %d decisions and %d approvals, want the script's one and the call's two", decisions, approvals)
	}
}

func TestACallThatMustBeAloneIsRefusedBesideItsScript(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(tools("terminal")) })
	b.config.Decider, b.human.answer = asker{b.judge, []string{"deploy.sh"}}, always(bailiff.ApprovalApproved)
	if c := b.calling(t, "terminal", `{"command": "./deploy.sh"}`, nil); !strings.Contains(c.value,
		"must be alone in its sandbox, which the script is in") || len(b.human.asked) != 0 {
		t.Errorf("the script got %s %s, asked was %+v", c.value, c.fault, b.human.asked)
	}
}

// mover is a judge who wants another sandbox for commands than for scripts.
type mover struct {
	*judge
	change func(*bailiff.Decision)
}

func (m mover) Decide(ctx context.Context, req bailiff.Request, at bailiff.Circumstances) bailiff.Judgement {
	j := m.judge.Decide(ctx, req, at)
	if req.Tool != bailiff.ExecuteCode {
		m.change(&j.Decision)
	}
	return j
}

func TestWhereACallRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, call func(*bailiff.Decision)
		sandboxes    int
		says         string
	}{
		"in the script's sandbox":         {func(*bailiff.Decision) {}, func(*bailiff.Decision) {}, 1, "completed"},
		"in that of the script's request": {scoped("request"), scoped("request"), 1, "completed"},
		"in one of its own":               {func(*bailiff.Decision) {}, scoped("request"), 2, "completed"},
		"on another backend": {func(*bailiff.Decision) {},
			func(d *bailiff.Decision) { d.Backend.Name = "bubblewrap" }, 2, "completed"},
		"nowhere: another sandbox on these files": {func(*bailiff.Decision) {}, func(d *bailiff.Decision) { d.Backend.PIDs = 77 }, 1,
			"the policies want another sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = allow(tools("terminal"), c.script) })
			b.config.Decider = mover{b.judge, c.call}
			got := b.calling(t, "terminal", `{"command": "ls"}`, nil)
			if !strings.Contains(got.value, c.says) || len(b.fakeBackend.sandboxes()) != c.sandboxes {
				t.Errorf("the script got %s %s in %d sandboxes, want %q in %d", got.value, got.fault, len(b.fakeBackend.sandboxes()),
					c.says, c.sandboxes)
			}
		})
	}
}

func scoped(scope string) func(*bailiff.Decision) {
	return func(d *bailiff.Decision) { d.Backend.Scope = scope }
}

// A request that must be alone waits for the script, so the script's call must not
// wait behind it.
func TestACallNeverWaitsBehindWhoWaitsForItsScript(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(tools("terminal")) })
	b.env["T"] = "t-12345678"
	running, goOn := make(chan struct{}), make(chan struct{})
	var value string
	b.fakeBackend.script = func(p *python) int {
		close(running)
		<-goOn
		value, _ = p.call("terminal", `{"command": "ls"}`)
		return 0
	}
	var all sync.WaitGroup
	all.Go(func() { wantRun(t, b, code("x")) })
	<-running
	b.judge.says(allow(tools("terminal"), forward("T")))
	all.Go(func() {
		req := request("push")
		req.Env = []string{"T"}
		wantRun(t, b, req)
	})
	awaittest.Until(t, "the other waits", func() bool {
		for _, s := range b.Sandboxes() {
			return s.Users == 2
		}
		return false
	})
	b.judge.says(allow(tools("terminal")))
	close(goOn)
	all.Wait()
	if !strings.Contains(value, "completed") {
		t.Errorf("the script got %s", value)
	}
}

func TestACallIsRefusedWhenRequestsComeTooFast(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(tools("terminal")) })
	b.config.Throttle = fast{}
	if c := b.calling(t, "terminal", `{"command": "ls"}`, nil); !strings.Contains(c.value, "unavailable") {
		t.Errorf("the script got %s %s", c.value, c.fault)
	}
}

// fast keeps commands out.
type fast struct{}

func (fast) Admit(req bailiff.Request) error {
	if req.Tool == bailiff.Terminal {
		return errBoom
	}
	return nil
}

// agent runs its own tools by a function.
func (b *bench) agent(t *testing.T, run func(bailiff.ToolCall) (text string, isError bool)) func(bailiff.Progress) {
	return func(p bailiff.Progress) {
		if p.ToolCall == nil {
			return
		}
		text, isError := run(*p.ToolCall)
		if err := b.AnswerTool("codex", p.ToolCall.ID, text, isError); err == nil {
			t.Error("another caller answered")
		}
		if err := b.AnswerTool("hermes", p.ToolCall.ID, text, isError); err != nil {
			t.Error(err)
		}
		if err := b.AnswerTool("hermes", p.ToolCall.ID, text, isError); err == nil {
			t.Error("a second answer was taken")
		}
	}
}

func TestAScriptCallsAToolOfTheAgentsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(tools("web_search")) })
	must(t, b.RegisterTools("hermes", "s1", []string{"web_search"}))
	found := func(c bailiff.ToolCall) (string, bool) { return `["` + c.Name + `",` + c.Arguments + `]`, false }
	c := b.calling(t, "web_search", `{"q": 1.10, "a": null, "q": 12345678901234567890}`, b.agent(t, found))
	if want := `["web_search",{"a":null,"q":12345678901234567890}]`; c.value != want {
		t.Errorf("the script got %s %s, want %s", c.value, c.fault, want)
	}
	req := b.judge.judged[len(b.judge.judged)-1]
	if req.Tool != bailiff.Call || req.Args.Name != "web_search" || req.Args.Arguments != `{"a":null,"q":12345678901234567890}` {
		t.Errorf("judged was %+v", req)
	}
	broken := func(bailiff.ToolCall) (string, bool) { return "no network", true }
	b.judge.says(allow(tools("web_search"), func(d *bailiff.Decision) { d.Backend.Scope = "user" }))
	req = code("call")
	b.fakeBackend.script = func(p *python) int {
		c.value, c.fault = p.call("web_search", `{}`)
		return 0
	}
	if b.Execute(t.Context(), req, b.agent(t, broken)); c.fault != "no network" {
		t.Errorf("the script got %s %s", c.value, c.fault)
	}
}

func TestACallOfAnAgentsToolEndsWithItsScript(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(tools("web_search")) })
	must(t, b.RegisterTools("hermes", "s1", []string{"web_search"}))
	var id string
	b.fakeBackend.script = func(p *python) int {
		p.says(`{"call": 1, "script": %d, "tool": "web_search", "arguments": {}}`, p.Script)
		p.untilBroken()
		return 130
	}
	ctx, cancel := context.WithCancel(t.Context())
	a := b.Execute(ctx, code("call"), func(p bailiff.Progress) {
		if p.ToolCall != nil {
			id = p.ToolCall.ID
			cancel()
		}
	})
	if a.Status != bailiff.Interrupted || id == "" {
		t.Errorf("answer is %+v", a)
	}
	if err := b.AnswerTool("hermes", id, "1", false); err == nil {
		t.Error("the answer was taken")
	}
}

func TestWhichToolsASessionHas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	offers := func(caller, session, name string) bool {
		return b.tools.Offers(lease.Key{Caller: caller, Session: session}, name)
	}
	has := func(name string) bool { return offers("hermes", "s1", name) }
	register := func(names ...string) error { return b.RegisterTools("hermes", "s1", names) }
	if err := register("a", "b"); err != nil || !has("a") || !has("b") || offers("codex", "s1", "a") ||
		offers("hermes", "s2", "a") {
		t.Error("a and b are not what it has, or others have them too")
	}
	if err := register("c"); err != nil || has("a") || !has("c") {
		t.Error("another list does not replace the first")
	}
	if register("terminal") == nil || register(make([]string, 65)...) == nil || !has("c") {
		t.Error("a list that cannot be is taken")
	}
	if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil || has("c") {
		t.Error("it outlives its session")
	}
}
