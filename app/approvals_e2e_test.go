package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

// counted is an office whose commands on the host leave a line where the test sees it.
type counted struct {
	*office
	ledger string
}

func startCounted(t *testing.T, sections ...string) *counted {
	t.Helper()
	o := startOffice(t, openDir(t), onePerson(t, append(sections, onTheHost(t))...))
	return &counted{o, filepath.Join(o.folder, "ledger")}
}

// removal asks people, and leaves a line if it runs.
func (d *counted) removal(session string) bailiff.Request {
	return atTerminal(session, "rm -rf ./nothing; echo "+session+" | tee -a "+d.ledger)
}

// ran counts the runs of a session's removal.
func (d *counted) ran(t *testing.T, session string) (n int) {
	t.Helper()
	for _, line := range linesIn(t, d.ledger) {
		if line == session {
			n++
		}
	}
	return n
}

func (d *counted) wantRuns(t *testing.T, session string, want int) {
	t.Helper()
	if n := d.ran(t, session); n != want {
		t.Errorf("it ran %d times, want %d", n, want)
	}
}

func TestWhatIsAskedRunsOnceAfterAYesAndNeverWithoutOne(t *testing.T) {
	d := startCounted(t)
	impatient := func(session string) bailiff.Request { req := d.removal(session); req.WaitSeconds = 0; return req }

	t.Run("who waits is told every step in its order", func(t *testing.T) {
		e := send(t.Context(), d.agent, d.removal("waits"))
		mustApprove(t, d.operator, e.question(t), "")
		a := e.end(t)
		wants(t, a, bailiff.Completed, "")
		want := []string{"decision ask", "approval pending", "approval approved", "output waits\n"}
		if !slices.Equal(e.events, want) {
			t.Errorf("the stream told %q, want %q", e.events, want)
		}
		if a.Approval == nil || a.Approval.By != "ana" || a.Approval.Scope != bailiff.ScopeOnce {
			t.Errorf("the answer tells of %+v", a.Approval)
		}
		d.wantRuns(t, "waits", 1)
		wants(t, ask(t, d.agent, impatient("waits")), bailiff.ApprovalRequired, "Needs approval a-")
	})

	t.Run("who does not wait comes back after the yes, which serves once", func(t *testing.T) {
		a := ask(t, d.agent, impatient("retries"))
		wants(t, a, bailiff.ApprovalRequired, "Send the same request again")
		if a.ExitCode != bailiff.ExitPending {
			t.Errorf("the exit code is %d", a.ExitCode)
		}
		mustApprove(t, d.operator, a.Approval.ID, "")
		again := ask(t, d.agent, impatient("retries"))
		wants(t, again, bailiff.Completed, "")
		if again.Approval == nil || again.Approval.ID != a.Approval.ID {
			t.Errorf("it ran by %+v, want approval %s", again.Approval, a.Approval.ID)
		}
		third := ask(t, d.agent, impatient("retries"))
		wants(t, third, bailiff.ApprovalRequired, "Needs approval a-")
		if third.Approval.ID == a.Approval.ID {
			t.Error("a used approval was given out again")
		}
		d.wantRuns(t, "retries", 1)
	})

	t.Run("waiting ends after wait_seconds, and the question stays", func(t *testing.T) {
		req := d.removal("waits-a-second")
		req.WaitSeconds = 1
		start := time.Now()
		a := ask(t, d.agent, req)
		wants(t, a, bailiff.ApprovalRequired, "Needs approval")
		if took := time.Since(start); took < time.Second {
			t.Errorf("it waited %v, want a second at least", took)
		}
		mustApprove(t, d.operator, a.Approval.ID, "")
	})

	t.Run("a no is told with its reason, and nothing runs", func(t *testing.T) {
		e := send(t.Context(), d.agent, d.removal("denied"))
		if _, err := d.operator.Deny(t.Context(), e.question(t), "not on a Friday"); err != nil {
			t.Fatal(err)
		}
		a := e.end(t)
		wants(t, a, bailiff.Refused, "not on a Friday")
		if a.ExitCode != bailiff.ExitRefused {
			t.Errorf("the exit code is %d", a.ExitCode)
		}
		d.wantRuns(t, "denied", 0)
	})

	t.Run("who goes away leaves the question open", func(t *testing.T) {
		ctx, goAway := context.WithCancel(t.Context())
		e := send(ctx, d.agent, d.removal("leaves"))
		id := e.question(t)
		goAway()
		if _, answered := <-e.answer; answered {
			t.Error("who went away was answered")
		}
		mustApprove(t, d.operator, id, "")
		d.wantRuns(t, "leaves", 0)
		wants(t, ask(t, d.agent, impatient("leaves")), bailiff.Completed, "")
		d.wantRuns(t, "leaves", 1)
	})

	t.Run("of identical requests that wait one runs", func(t *testing.T) {
		const many = 6
		var all []*sent
		ids := map[string]bool{}
		for range many {
			e := send(t.Context(), d.agent, d.removal("twins"))
			all, ids[e.question(t)] = append(all, e), true
		}
		if len(ids) != 1 {
			t.Fatalf("people were asked %d times", len(ids))
		}
		for id := range ids {
			mustApprove(t, d.operator, id, "")
		}
		ends := map[bailiff.Status]int{}
		for _, e := range all {
			a := e.end(t)
			if ends[a.Status]++; a.Status != bailiff.Completed {
				wants(t, a, bailiff.Refused, "used by an identical request")
			}
		}
		if ends[bailiff.Completed] != 1 {
			t.Errorf("they ended as %v", ends)
		}
		d.wantRuns(t, "twins", 1)
	})

	t.Run("requests of one id are one", func(t *testing.T) {
		req := d.removal("joined")
		req.ID = "r1"
		first := send(t.Context(), d.agent, req)
		id := first.question(t)
		second := send(t.Context(), d.agent, req)
		mustApprove(t, d.operator, id, "")
		a, b := first.end(t), second.end(t)
		wants(t, a, bailiff.Completed, "")
		if b.Status != a.Status || b.DecisionID != a.DecisionID || b.Output != a.Output {
			t.Errorf("the second was answered %+v, want %+v", b, a)
		}
		if again := ask(t, d.agent, req); again.DecisionID != a.DecisionID {
			t.Errorf("later it was answered %+v, want %+v", again, a)
		}
		d.wantRuns(t, "joined", 1)
	})

	t.Run("one id asks, and after the yes runs", func(t *testing.T) {
		req := impatient("one-id")
		req.ID = "r2"
		a := ask(t, d.agent, req)
		wants(t, a, bailiff.ApprovalRequired, "")
		mustApprove(t, d.operator, a.Approval.ID, "")
		for range 2 {
			wants(t, ask(t, d.agent, req), bailiff.Completed, "")
		}
		d.wantRuns(t, "one-id", 1)
	})
}

func TestAQuestionThatNobodyAnswersExpires(t *testing.T) {
	t.Parallel()
	d := startCounted(t, "approvals: {timeout: 1s}")
	e := send(t.Context(), d.agent, d.removal("late"))
	id := e.question(t)
	wants(t, e.end(t), bailiff.Expired, "Nobody answered within 1s.")
	_, err := d.operator.Approve(t.Context(), id, "")
	wantProblem(t, err, "already_settled", "expired")
	d.wantRuns(t, "late", 0)
	for _, wait := range []int{1, 2} { // as long as it lives, or longer
		req := d.removal(fmt.Sprint("for ", wait))
		req.WaitSeconds = wait
		a := ask(t, d.agent, req)
		wants(t, a, bailiff.Expired, "Nobody answered within 1s.")
		if a.ExitCode != bailiff.ExitRefused {
			t.Errorf("after a wait of %d s it ends with %d", wait, a.ExitCode)
		}
	}
}

// wantProblem checks why an operator's wish was not met.
func wantProblem(t *testing.T, err error, code, says string) {
	t.Helper()
	var p *api.Problem
	if !errors.As(err, &p) || p.Code != code || !strings.Contains(p.Message, says) {
		t.Errorf("the operator is told %v, want %s and %q", err, code, says)
	}
}

// houseAsksAboutRemovals asks, wherever it runs, about what removes a folder.
const houseAsksAboutRemovals = `
require_approval contains {"rule": "house.removes", "message": "It removes.", "match": "rm -r build"} if {
	contains(input.args.command, "rm -r build")
}
`

func TestAFloodOfOneSessionPushesNobodyOut(t *testing.T) {
	t.Parallel()
	flood := backendtest.Rounds(500, 2000)
	d := startCounted(t, askingAlways(t))
	others := d.removal("other")
	others.WaitSeconds = 280
	other := send(t.Context(), d.agent, others)
	id := other.question(t)
	reqs := make(chan bailiff.Request)
	go func() {
		defer close(reqs)
		for n := range flood {
			req := atTerminal("flood", fmt.Sprint("rm -r ./nothing", n))
			req.WaitSeconds = 0
			req.Session.UserID = "flooder"
			reqs <- req
		}
	}()
	ends := countEnds(t, d, reqs)
	if pending := ends["approval_required "]; pending != 5 || ends["unavailable approval_failed"] != flood-pending {
		t.Errorf("%d requests ended as %v", flood, ends)
	}
	full := atTerminal("flood", "rm -r ./more")
	full.Session.UserID = "flooder"
	wants(t, ask(t, d.agent, full), bailiff.Unavailable, `user "flooder" has 5 approvals pending`)
	if e, err := d.operator.Approval(t.Context(), id); err != nil || e.Approval.State != bailiff.ApprovalPending {
		t.Fatalf("the other's approval is %+v, %v", e.Approval, err)
	}
	mustApprove(t, d.operator, id, "")
	wants(t, other.end(t), bailiff.Completed, "")
	newcomer := send(t.Context(), d.agent, d.removal("newcomer"))
	mustApprove(t, d.operator, newcomer.question(t), "")
	wants(t, newcomer.end(t), bailiff.Completed, "")
}

// countEnds sends requests from several clients and counts how they ended.
func countEnds(t *testing.T, d *counted, reqs <-chan bailiff.Request) map[string]int {
	t.Helper()
	const clients = 8
	counts := make(chan map[string]int)
	for range clients {
		agent := d.client(t)
		go func() {
			ends := map[string]int{}
			for req := range reqs {
				a, err := agent.Execute(t.Context(), req, client.News{})
				if err != nil {
					t.Error(err)
				}
				ends[string(a.Status)+" "+a.Code]++
			}
			counts <- ends
		}()
	}
	all := map[string]int{}
	for range clients {
		for end, n := range <-counts {
			all[end] += n
		}
	}
	return all
}

func TestGuardsSpeakBeforeThePoliciesAndOutliveThem(t *testing.T) {
	t.Parallel()
	folder, house := withHouse(t, houseAsksAboutRemovals)
	d := startCounted(t, house, `guards: [{name: no-builds, when: 'command.programs.exists(p, p == "rm")', `+
		`message: Nobody removes anything here., instead: Keep it.}]`)
	check := func() {
		t.Helper()
		a := ask(t, d.agent, atTerminal("s1", "rm -r build"))
		wants(t, a, bailiff.Refused, "Denied: Nobody removes anything here (guard.no-builds). Instead: Keep it.")
		if len(a.Decision.Denials) != 1 || a.Decision.Denials[0].Rule != "guard.no-builds" {
			t.Errorf("it was denied by %+v", a.Decision.Denials)
		}
		wants(t, ask(t, d.agent, atTerminal("s1", "true")), bailiff.Completed, "")
	}
	check()
	revision := d.policies.Revision()
	save(t, filepath.Join(folder, "house.rego"), "package bailiff\n\ndecision := {\"outcome\": \"allow\"")
	awaitReadiness(t, d.running, "503\npolicies: ")
	check()
	if d.policies.Revision() != revision {
		t.Error("broken policies came into force")
	}
	if list, err := d.operator.Approvals(t.Context(), api.Query{}); err != nil || len(list.Approvals) != 0 {
		t.Errorf("people were asked %+v, %v", list.Approvals, err)
	}
}

func TestAStopDoesNotWaitForApprovers(t *testing.T) {
	t.Parallel()
	d := startCounted(t)
	e := send(t.Context(), d.agent, d.removal("waits"))
	e.question(t)
	d.stop()
	wants(t, e.end(t), bailiff.ApprovalRequired, "Send the same request again once it is approved.")
	if log := d.log.String(); strings.Contains(log, "running requests were cancelled") {
		t.Errorf("it waited until its patience was over: %s", log)
	}
	d.wantRuns(t, "waits", 0)
}
