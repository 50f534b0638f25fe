package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts"
)

func TestAGuardDeniesWhatItsConditionDescribes(t *testing.T) {
	t.Parallel()
	chat := bailiff.Request{
		Tool: bailiff.Terminal, Args: bailiff.Args{Command: "ssh -N root@db.internal", Timeout: 600, Background: true},
		Session: bailiff.Session{ID: "s", Platform: "discord", ChatType: "group", UserID: "42", Unattended: true},
		Env:     []string{"GITHUB_TOKEN"}, Backend: "docker", Caller: "hermes",
	}
	shell := facts.Shell(chat.Args.Command, facts.Place{})
	python := facts.Python("import os\nos.system('curl https://x.test')", facts.Place{})
	for when, denies := range map[string]bool{
		`request.session.platform == "discord" && "ssh" in command.programs`:   true,
		`request.session.platform == "slack" && "ssh" in command.programs`:     false,
		`request.caller == "hermes"`:                                           true,
		`request.tool == "terminal"`:                                           true,
		`request.args.timeout > 300`:                                           true,
		`request.args.background && request.session.unattended`:                true,
		`request.env.exists(name, name.startsWith("GITHUB_"))`:                 true,
		`request.backend in ["local", "docker"]`:                               true,
		`request.args.command.matches("^ssh .*@db[.]internal$")`:               true,
		`command.calls.exists(c, c.program == "ssh" && "-N" in c.flags)`:       true,
		`command.calls.exists(c, c.argv.exists(a, a.contains("db.external")))`: false,
		`command.calls.exists(c, c.argv.join(" ").matches("^ssh -N"))`:         true,
		`command.calls.exists(c, c.argv.join("").contains(" "))`:               false,
		`command.hosts.exists(h, h.endsWith(".internal"))`:                     true,
		`size(command.text) > 10 && command.parsed`:                            true,
		`code.language == "python" && "os.system" in code.calls`:               true,
		`"curl" in code.command.programs`:                                      true,
		`has(request.args.stdin)`:                                              false,
		`!has(request.args.stdin)`:                                             true,
	} {
		denials, err := guards(t, Rule{Name: "it", When: when}).Check(context.Background(), chat, &shell, &python)
		if err != nil || (len(denials) == 1) != denies {
			t.Errorf("%s: got %v, %v; want a denial: %v", when, denials, err, denies)
		}
	}
}

func TestEveryGuardThatSpeaksIsADenial(t *testing.T) {
	t.Parallel()
	g := guards(t,
		Rule{"first", `request.caller == "hermes"`, "Not for Hermes.", "Ask Ana."},
		Rule{"second", `request.caller == "other"`, "Not for others.", ""},
		Rule{"third", `true`, "", ""})
	denials, err := g.Check(context.Background(), bailiff.Request{Caller: "hermes"}, nil, nil)
	got := fmt.Sprint(denials, err)
	want := fmt.Sprint([]bailiff.Reason{{Rule: "guard.first", Message: "Not for Hermes.", Instead: "Ask Ana."},
		{Rule: "guard.third", Message: "Guard third of the configuration forbids this."}}, error(nil))
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	var none *Guardrails
	if denials, err := none.Check(context.Background(), bailiff.Request{}, nil, nil); denials != nil || err != nil {
		t.Errorf("no guards say %v, %v", denials, err)
	}
}

func TestFactsThatAreAbsentAreEmpty(t *testing.T) {
	t.Parallel()
	g := guards(t, Rule{Name: "it", When: `"ssh" in command.programs || command.parsed || code.calls.size() > 0 ||
		code.command.calls.exists(c, c.program == "ssh") || code.complete || command.text != ""`})
	if denials, err := g.Check(context.Background(), bailiff.Request{}, nil, nil); len(denials) > 0 || err != nil {
		t.Errorf("without facts: %v, %v", denials, err)
	}
}

func TestAGuardThatCannotBeEvaluatedDenies(t *testing.T) {
	t.Parallel()
	many := facts.Command{}
	for i := range 5000 {
		many.Programs = append(many.Programs, fmt.Sprint("program-", i))
	}
	ended, end := context.WithCancel(context.Background())
	end()
	for name, test := range map[string]struct {
		ctx  context.Context
		when string
		says string
	}{
		"an error":            {context.Background(), `int(request.session.user_id) > 5`, "type conversion error"},
		"a missing element":   {context.Background(), `command.calls[3].program == "ssh"`, "index out of bounds"},
		"steps without end":   {context.Background(), `command.programs.exists(a, command.programs.exists(b, a + "x" == b))`, "it "},
		"no time left":        {ended, `request.caller == "nobody"`, "there was no time left for it"},
		"a division by zero":  {context.Background(), `1 / size(request.env) == 1`, "division by zero"},
		"an integer overflow": {context.Background(), `request.args.timeout * 9223372036854775807 > 0`, "overflow"},
	} {
		t.Run(name, func(t *testing.T) {
			g := guards(t, Rule{Name: "it", When: test.when, Message: "Never said."})
			req := bailiff.Request{Args: bailiff.Args{Timeout: 2}, Session: bailiff.Session{UserID: "U07A"}}
			denials, err := g.Check(test.ctx, req, &many, nil)
			if err == nil || len(denials) != 1 || denials[0].Rule != "guard.it" ||
				!strings.HasPrefix(denials[0].Message, "Guard it could not be evaluated, so it denies: ") ||
				!strings.Contains(denials[0].Message, test.says) {
				t.Errorf("got %+v, %v", denials, err)
			}
		})
	}
}

func TestNoTextIsTooMuchForGuards(t *testing.T) {
	t.Parallel()
	g := guards(t,
		Rule{Name: "match", When: `request.args.command.matches("(?i)(rm|mv|cp)[ \t]+-[a-z]*r[a-z]* .*/etc/[a-z]+$")`},
		Rule{Name: "contain", When: `request.args.command.contains("aaaaaaaaaaaaaaaaaaaaab")`},
		Rule{Name: "loop", When: `command.calls.exists(c, c.argv.exists(a, a.matches("^--?[a-z]+=[0-9]+$")))`},
		Rule{Name: "join", When: `command.calls.exists(c, c.argv.join(" ").contains("a b a"))`},
		Rule{Name: "loops", When: `command.calls.exists(c, command.calls.exists(d, c.program == "x" + d.program))`})
	for name, text := range map[string]string{
		"one long word": strings.Repeat("a", 1<<20),
		"many calls":    strings.Repeat("rm -r ab\n", 1<<20/9),
		"many words":    "echo" + strings.Repeat(" a", 1<<19-4),
	} {
		t.Run(name, func(t *testing.T) {
			command := facts.Shell(text, facts.Place{})
			before := processor(t)
			denials, _ := g.Check(context.Background(), bailiff.Request{Args: bailiff.Args{Command: text}}, &command, nil)
			if took := processor(t) - before; took > 20*patience {
				t.Errorf("took %v, and %d denied", took, len(denials))
			}
		})
	}
}

func TestWhatIsWrongWithAConditionIsNamedWithItsPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Fault{
		`request.sesion.id == ""`:                      {1, 9, `"sesion": unknown field, nearest valid field is "session"`},
		"request.tool == 'x' ||\n  request.tol == 'x'": {2, 11, `"tol": unknown field, nearest valid field is "tool"`},
		`request.session.id == 'ä' && request.calle`:   {1, 38, `"calle": unknown field, nearest valid field is "caller"`},
		`command.calls.exists(c, c.progam == "x")`:     {1, 27, `"progam": unknown field, nearest valid field is "program"`},
		`has(request.session.plattform)`:               {1, 21, `"plattform": unknown field, nearest valid field is "platform"`},
		`reqest.tool == ""`:                            {1, 1, `"reqest": unknown name, nearest valid name is "request"`},
		`request.args.command.startWith("x")`:          {1, 22, `"startWith": unknown name, nearest valid name is "startsWith"`},
		`request.env.exist(e, e == "x")`:               {1, 13, `"exist": unknown name, nearest valid name is "exists"`},
		`request.request_id == ""`: {1, 9,
			`"request_id": unknown field, valid are args, backend, caller, env, session, tool`},
		`request.session.id == 1`:           {1, 20, `== cannot be applied to (string, int)`},
		`request.session.id`:                {1, 1, `want a condition that is true or false, is of type string`},
		`request.tool == "x" &&`:            {1, 23, `syntax error: mismatched input the end`},
		`request.tool == "x")`:              {1, 20, `syntax error: extraneous input ')'`},
		``:                                  {1, 1, `syntax error: mismatched input the end`},
		`request.args.command.matches("[")`: {1, 30, "missing closing ]: `[`"},
		`request.args.command.matches("(a{1,99}){1,999}")`: {1, 30, "invalid repeat count: `{1,999}`"},
		`request.args.command.matches(request.args.code)`:  {1, 42, `want a pattern in quotes for matches, not one that is computed`},
	} {
		var fault *Fault
		if err := Valid(text); !errors.As(err, &fault) || *fault != want {
			t.Errorf("%s\n got %v\nwant %v", text, err, want)
		}
	}
	loops := `command.calls.exists(c, command.calls.exists(d, c.argv.exists(a, d.argv.exists(b, a.contains(b)))))`
	if err := Valid(loops); err == nil || err.Error() != "column 1: is too costly for large requests; loops within loops multiply" {
		t.Errorf("four loops within each other: %v", err)
	}
}

func TestConditionsSeeNoClockAndNothingThatIsNotRemembered(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`timestamp("2026-01-01T00:00:00Z").getFullYear() > 1`, `now() != now()`, `request.request_id == ""`, `request.wait_seconds == 0`,
		`decision.outcome == "ask"`, `approver.name == "ana"`, `duration("1s") > duration("2s")`, `dyn(request).peer == ""`,
	} {
		if Valid(text) == nil {
			t.Errorf("%s compiles as a guard", text)
		}
	}
}

func TestAConditionOfARouteSeesTheDecision(t *testing.T) {
	t.Parallel()
	claim := bailiff.Claim{
		Request: bailiff.Request{Caller: "hermes"},
		Decision: bailiff.Decision{Outcome: bailiff.Ask, Obligations: bailiff.Obligations{
			Backend: bailiff.BackendTerms{Name: "docker", Network: "egress", Egress: []string{"github.com:443"}},
			Env:     bailiff.EnvTerms{Forward: []string{"TOKEN"}},
			Limits:  bailiff.Limits{TimeoutSeconds: 60},
		}, Approval: &bailiff.ApprovalTerms{Quorum: 2, Reasons: []bailiff.Reason{{Rule: "secrets.forwarded"}}}},
	}
	for when, want := range map[string]bool{
		`decision.approval.reasons.exists(r, r.rule.startsWith("secrets."))`:                                               true,
		`decision.approval.reasons.all(r, r.rule.startsWith("command."))`:                                                  false,
		`decision.outcome == "ask" && decision.approval.quorum == 2`:                                                       true,
		`decision.backend.network == "egress" && "TOKEN" in decision.env.forward && decision.limits.timeout_seconds == 60`: true,
		`request.caller == "hermes"`: true,
	} {
		if got := ofClaim(t, when, claim); got != want {
			t.Errorf("%s is %v, want %v", when, got, want)
		}
	}
	if ofClaim(t, `decision.approval.reasons.size() > 0 || decision.approval.quorum > 0`, bailiff.Claim{}) {
		t.Error("a decision without approval has reasons")
	}
	if _, err := OfClaim(`command.parsed`); err == nil {
		t.Error("a route's condition may see facts that are not there")
	}
}

func TestAConditionOnApproversSeesWhoWouldAnswer(t *testing.T) {
	t.Parallel()
	ana := Approver{Name: "ana", Groups: []string{"security"}, UIDs: []uint32{1000}, Channel: "console"}
	for text, want := range map[string]bool{
		`"security" in approver.groups`:                                 true,
		`"ops" in approver.groups`:                                      false,
		`approver.name == "ana" && approver.channel == "console"`:       true,
		`1000u in approver.uids`:                                        true,
		`request.session.platform == "slack" || approver.name == "ben"`: false,
	} {
		c, err := OfApprover(text)
		must(t, err)
		if got, err := c.Holds(ana, bailiff.Request{}); got != want || err != nil {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
	}
	if _, err := OfApprover(`approver.group == "x"`); err == nil ||
		err.Error() != `column 10: "group": unknown field, nearest valid field is "groups"` {
		t.Errorf("got %v", err)
	}
}

func ofClaim(t *testing.T, when string, claim bailiff.Claim) bool {
	t.Helper()
	c, err := OfClaim(when)
	must(t, err)
	holds, err := c.Holds(claim)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	return holds
}

func guards(t testing.TB, rules ...Rule) *Guardrails {
	t.Helper()
	g, err := New(rules)
	must(t, err)
	return g
}

func FuzzConditionsAreBounded(f *testing.F) {
	for _, text := range []string{
		`request.session.platform == "discord" && "ssh" in command.programs`, `request.args.command.matches("(a{1,99}){1,10}")`,
		`command.calls.exists(c, c.argv.all(a, a.startsWith("-")))`, `request.env.map(e, e + e) == ["x"] || code.command.reads[1] != "a"`,
		`int(request.session.user_id) / 0 > 1u ? has(request.args.stdin) : !(1.5 < -2.0)`, "request.tool ==\n\t'x' // why",
		`{"a": [1]}["b"][0] == 1`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		began := time.Now()
		g, err := New([]Rule{{Name: "it", When: text}})
		if err == nil {
			_, _ = g.Check(context.Background(), bailiff.Request{Env: []string{"A", "B"}}, nil, nil)
		}
		if took := time.Since(began); took > 20*patience {
			t.Errorf("took %v", took)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	g := guards(b, Rule{Name: "it", When: `request.session.platform == "discord" && "ssh" in command.programs`})
	command := facts.Shell("cd /srv && git pull && make -j4 test | tee log", facts.Place{})
	req := bailiff.Request{Session: bailiff.Session{Platform: "discord"}}
	b.ReportAllocs()
	for b.Loop() {
		if denials, err := g.Check(context.Background(), req, &command, nil); len(denials) > 0 || err != nil {
			b.Fatal(denials, err)
		}
	}
}

// processor is the time that this process has computed, whatever else the machine does.
func processor(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
