package enforcer

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
)

// ask makes a decision that leaves the request to humans.
func ask(d *bailiff.Decision) {
	d.Outcome = bailiff.Ask
	d.Approval = &bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: "command.kills", Message: "Kills.", Match: "kill 7"}},
		Scopes: []string{bailiff.ScopeOnce}}
}

func patient(command string) bailiff.Request {
	req := request(command)
	req.WaitSeconds = 300
	return req
}

func TestWhatHumansAnswerIsWhatHappens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		human   func(*humans)
		wait    int
		status  bailiff.Status
		exit    int
		says    string
		ran     int
		granted bool
	}{
		"a yes lets it run": {
			func(h *humans) { h.answer = always(bailiff.ApprovalApproved) }, 300, bailiff.Completed, 0, "", 1, true},
		"a no does not": {
			func(h *humans) { h.answer = always(bailiff.ApprovalDenied) }, 300, bailiff.Refused, bailiff.ExitRefused, "Ana said so.", 0,
			false},
		"nor does no answer in time": {
			func(h *humans) { h.answer = always(bailiff.ApprovalExpired) }, 300, bailiff.Expired, bailiff.ExitRefused,
			"Not approved in time", 0, false},
		"nor a freeze": {
			func(h *humans) { h.answer = always(bailiff.ApprovalCancelled) }, 300, bailiff.Refused, bailiff.ExitRefused, "Ana said so.",
			0, false},
		"who does not wait is told how to go on": {
			func(h *humans) {}, 0, bailiff.ApprovalRequired, bailiff.ExitPending, "a1", 0, false},
		"a store that fails lets nothing run": {
			func(h *humans) { h.fault = errBoom }, 300, bailiff.Unavailable, bailiff.ExitFailed, "boom", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = allow(ask); c.human(b.human) })
			req := request("kill 7")
			req.WaitSeconds = c.wait
			a := b.Execute(t.Context(), req, nil)
			if a.Status != c.status || a.ExitCode != c.exit || !strings.Contains(a.Message, c.says) {
				t.Errorf("answer is %+v", a)
			}
			told := slices.ContainsFunc(b.tape.all(), func(e api.Event) bool { return e.Custom.Status == bailiff.Unavailable })
			if told != (c.status == bailiff.Unavailable) {
				t.Errorf("that no approver could be asked stands in the log: %v", told)
			}
			if ran := b.fakeBackend.commands(); ran != c.ran {
				t.Errorf("%d commands ran, want %d", ran, c.ran)
			}
			if c.granted && (a.Approval == nil || a.Approval.By != "ana" || a.DecisionID == "") {
				t.Errorf("the answer does not tell of its approval: %+v", a)
			}
		})
	}
}

// A request waits as long as its question lives where both end together, or almost.
func TestARequestSeesTheEndOfAQuestionThatLivesAsLongAsItWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lives, wait time.Duration
		sees        bool
	}{
		"as long":             {5 * time.Minute, 5 * time.Minute, true},
		"a second longer":     {5*time.Minute + time.Second, 5 * time.Minute, true},
		"a minute longer":     {6 * time.Minute, 5 * time.Minute, false},
		"without any waiting": {time.Second, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sees := false
			b := newBench(t, func(b *bench) {
				b.judge.decision = allow(ask)
				b.human.lives = c.lives
				b.human.awaits = func(ctx context.Context) {
					end, _ := ctx.Deadline()
					sees = !end.Before(b.human.ends)
				}
			})
			req := request("kill 7")
			req.WaitSeconds = int(c.wait / time.Second)
			b.Execute(t.Context(), req, nil)
			if sees != c.sees {
				t.Errorf("that it sees the end is %v", sees)
			}
		})
	}
}

func TestAnApprovedRequestIsJudgedAndRecordedAgainBeforeItRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(ask); b.human.answer = always(bailiff.ApprovalApproved) })
	var news []string
	a := b.Execute(t.Context(), patient("kill 7"), func(p bailiff.Progress) {
		switch {
		case p.Decision != nil:
			news = append(news, "decision "+p.Decision.Decision.Outcome.String())
		case p.Approval != nil:
			news = append(news, "approval "+string(p.Approval.State))
		}
	})
	if want := []string{"decision ask", "approval pending", "approval approved"}; !slices.Equal(news, want) {
		t.Errorf("news are %v, want %v", news, want)
	}
	events := b.tape.all()
	if len(events) != 3 || events[0].Custom.Approval != nil || events[1].Custom.Approval == nil ||
		events[2].Custom.Event != api.ExecutionEvent {
		t.Fatalf("recorded %+v, want the question, the decision with its approval, the execution", events)
	}
	if a.DecisionID != events[1].DecisionID || events[2].DecisionID != events[1].DecisionID {
		t.Error("the answer and the execution are not those of the second decision")
	}
}

func TestWhatDriftedAfterTheQuestionIsVoid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(*bench)
		says      string
	}{
		"the policies deny it": {func(b *bench) { b.judge.says(bailiff.Denial("mine", "Not today.")) },
			"Not today (mine). The approval is void: the policies deny it now (approval.void)."},
		"the policies allow it": {func(b *bench) { b.judge.says(allow()) }, "no longer ask"},
		"another scope": {func(b *bench) {
			b.judge.says(allow(ask,
				func(d *bailiff.Decision) { d.Backend.Scope = "user" }))
		}, "backend or its terms changed"},
		"a wider network": {func(b *bench) {
			b.judge.says(allow(ask,
				func(d *bailiff.Decision) { d.Backend.Network = "full" }))
		}, "backend or its terms changed"},
		"a longer time limit": {func(b *bench) {
			b.judge.says(allow(ask,
				func(d *bailiff.Decision) { d.Limits.TimeoutSeconds = 999 }))
		}, "limits changed"},
		"the operator froze it meanwhile": {func(b *bench) { b.human.frozen = true }, "froze"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = allow(ask); b.human.answer = always(bailiff.ApprovalApproved) })
			b.human.meanwhile = func() { c.meanwhile(b) }
			a := b.Execute(t.Context(), patient("kill 7"), nil)
			if a.Status != bailiff.Refused || !strings.Contains(a.Message, c.says) || b.fakeBackend.commands() != 0 {
				t.Errorf("answer is %+v, %d commands ran", a, b.fakeBackend.commands())
			}
			if len(b.human.voided) != 1 {
				t.Errorf("voided %v, want the one approval", b.human.voided)
			}
		})
	}
}

func TestARetryUsesTheGrantThatTheFirstCallerDidNotWaitFor(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(ask) })
	if a := b.Execute(t.Context(), request("kill 7"), nil); a.Status != bailiff.ApprovalRequired {
		t.Fatalf("answer is %+v", a)
	}
	b.human.grants[b.human.asked[0].Digest()] = true
	if a := b.Execute(t.Context(), request("kill 7"), nil); a.Status != bailiff.Completed || a.Approval == nil {
		t.Errorf("answer is %+v, want it to run by the grant", a)
	}
	if a := b.Execute(t.Context(), request("kill 7"), nil); a.Status != bailiff.ApprovalRequired {
		t.Errorf("answer is %+v, want the grant to be used up", a)
	}
}

func TestACallerThatGoesAwayLeavesTheQuestionOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(ask); b.human.answer = always(bailiff.ApprovalApproved) })
	ctx, cancel := context.WithCancel(t.Context())
	b.human.meanwhile = cancel
	if a := b.Execute(ctx, patient("kill 7"), nil); a.Status != bailiff.ApprovalRequired || len(b.human.voided) != 0 ||
		b.fakeBackend.commands() != 0 {
		t.Errorf("answer is %+v", a)
	}
}

func TestAFileThatTheCommandRunsIsPartOfWhatIsApproved(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) *bench {
		b := newBench(t, func(b *bench) {
			b.judge.decision, b.judge.files = allow(ask), []string{"deploy.sh"}
			b.human.answer = always(bailiff.ApprovalApproved)
			b.fakeBackend.files = map[string]string{"deploy.sh": "01"}
		})
		return b
	}
	t.Run("unchanged, it runs alone", func(t *testing.T) {
		b := start(t)
		b.human.meanwhile = func() { b.fakeBackend.sandboxes()[0].left = 2 }
		a := b.Execute(t.Context(), patient("sh deploy.sh"), nil)
		sandbox := b.fakeBackend.sandboxes()[0]
		if a.Status != bailiff.Completed || sandbox.killed != 2 {
			t.Errorf("answer is %+v, killed %d processes that could have changed the file", a, sandbox.killed)
		}
		if len(b.judge.saw) != 1 || b.judge.saw[0].SHA256 != "01" || b.human.asked[0].Files[0].SHA256 != "01" {
			t.Errorf("policies saw %v, humans %v", b.judge.saw, b.human.asked[0].Files)
		}
	})
	t.Run("changed, it does not", func(t *testing.T) {
		b := start(t)
		b.human.meanwhile = func() { b.fakeBackend.write("deploy.sh", "02") }
		a := b.Execute(t.Context(), patient("sh deploy.sh"), nil)
		if a.Status != bailiff.Refused || !strings.Contains(a.Message, "a file that the command runs changed") ||
			b.fakeBackend.commands() != 0 {
			t.Errorf("answer is %+v", a)
		}
	})
}

func TestAHaltStopsWhatRunsAndRemovesItsSandbox(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		exit backends.Exit
		err  error
	}{
		"the command ends first":               {backends.Exit{Interrupted: true}, nil},
		"its sandbox ends first":               {backends.Exit{}, errBoom},
		"its sandbox kills it":                 {backends.Exit{Code: 137}, nil},
		"its sandbox kills who looks after it": {backends.Exit{Lost: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			started := make(chan struct{})
			b := newBench(t, func(b *bench) {
				b.fakeBackend.run = func(ctx context.Context, _ backends.Command, _ func([]byte)) (backends.Exit, error) {
					close(started)
					<-ctx.Done()
					return end.exit, end.err
				}
			})
			answers := make(chan bailiff.Answer)
			go func() { answers <- b.Execute(t.Context(), request("sleep 99"), nil) }()
			<-started
			halt := func(id string) {
				t.Helper()
				if err := b.Halt(t.Context(), func(s bailiff.Session) bool { return s.ID == id }); err != nil {
					t.Error(err)
				}
			}
			halt("another")
			if isClosed(b.fakeBackend.sandboxes()[0].done) {
				t.Error("another session's halt removed the sandbox")
			}
			halt("s1")
			if !isClosed(b.fakeBackend.sandboxes()[0].done) {
				t.Error("the halt returned before the sandbox was gone")
			}
			if a := <-answers; a.Status != bailiff.Interrupted || a.Code != bailiff.CodeFrozen {
				t.Errorf("answer is %+v", a)
			}
		})
	}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func TestWhatIsFrozenIsDeniedWhateverThePoliciesSay(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.human.frozen = true })
	a := b.Execute(t.Context(), request("true"), nil)
	if a.Status != bailiff.Refused || a.Decision.Denials[0].Rule != bailiff.RuleFrozen || len(b.fakeBackend.sandboxes()) != 0 {
		t.Errorf("answer is %+v", a)
	}
}

func TestAnEndIsRecordedForWhateverWasLetRunEvenIfItCouldNot(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench){
		"no backend":       func(b *bench) { b.fakeBackend.fault = errBoom },
		"a variable gone":  func(b *bench) { b.judge.decision = allow(forward("GONE")) },
		"an egress filter": func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Network = "egress" }) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, change)
			req := request("true")
			req.Env = []string{"GONE"}
			a := b.Execute(t.Context(), req, nil)
			if a.Status == bailiff.Completed {
				t.Errorf("answer is %+v", a)
			}
			if got, want := b.tape.kinds(), []api.EventKind{api.DecisionEvent, api.ExecutionEvent}; !slices.Equal(got, want) {
				t.Errorf("recorded %v, want %v", got, want)
			}
		})
	}
}

// What the log says of it is how it is known under its id after a crash.
func TestAnApprovedRequestIsLoggedAsItWasSentWhereverTheSessionStands(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.human.answer = always(bailiff.ApprovalApproved)
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{Workdir: "/workspace/other"}, nil
		}
	})
	b.Execute(t.Context(), request("cd other"), nil)
	b.judge.says(allow(ask))
	req := named("r1", patient("kill 7"))
	if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.Completed {
		t.Fatalf("answer is %+v", a)
	}
	for _, e := range b.tape.all() {
		if e.Custom.Event == api.DecisionEvent && e.Custom.RequestID == "r1" && e.Custom.Digest != req.Digest() {
			t.Errorf("logged as %s, sent as %s", e.Custom.Digest, req.Digest())
		}
	}
}

// A session's first command stands nowhere yet, its second where the first one
// ended: the same request in between is still the one that was approved.
func TestTheSameRequestFromTheFolderItWasAskedInIsTheSame(t *testing.T) {
	t.Parallel()
	ends := backends.Exit{Workdir: "/workspace", InWorkspace: true}
	b := newBench(t, func(b *bench) {
		b.judge.decision = allow(ask)
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) { return ends, nil }
	})
	b.Execute(t.Context(), request("rm -r build"), nil)
	first := b.human.asked[0].Digest()
	b.judge.says(allow())
	b.Execute(t.Context(), request("ls"), nil)
	b.judge.says(allow(ask))
	b.human.grants[first] = true
	if a := b.Execute(t.Context(), request("rm -r build"), nil); a.Status != bailiff.Completed {
		t.Errorf("from the same folder the answer is %+v", a)
	}
	ends = backends.Exit{Workdir: "/workspace/other"}
	b.judge.says(allow())
	b.Execute(t.Context(), request("cd other"), nil)
	b.judge.says(allow(ask))
	b.human.grants[first] = true
	if a := b.Execute(t.Context(), request("rm -r build"), nil); a.Status != bailiff.ApprovalRequired {
		t.Errorf("from another folder the answer is %+v", a)
	}
}
