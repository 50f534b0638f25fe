package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// houseAsks asks about everything, and starts fast.
const houseAsks = `package bailiff

decision := {
	"outcome": "ask",
	"denials": [],
	"approval": {
		"reasons": [{"rule": "house.asks", "message": "Everything is asked.", "match": input.args.command}],
		"scopes": ["once", "always"], "timeout_seconds": 600, "grant_seconds": 600, "quorum": 1,
	},
	"backend": {
		"name": "local", "network": "full", "image": "", "scope": "session", "idle_seconds": 60, "egress": [],
		"cpus": 0, "memory_mb": 0, "disk_mb": 0, "pids": 0, "read_only": false, "mounts": [],
	},
	"env": {"forward": [], "withheld": [], "set": {}},
	"limits": {"timeout_seconds": 20, "output_bytes": 1000},
}
`

// askingAlways is the section that puts nothing but houseAsks into force.
func askingAlways(t *testing.T) string {
	t.Helper()
	house := t.TempDir()
	save(t, filepath.Join(house, "house.rego"), houseAsks)
	return "policies: {require_tests: false, paths: [" + house + "]}"
}

// What a sidecar promised must hold however often it is killed, at any moment.
func TestAKilledSidecarKeepsEveryPromiseOfApprovals(t *testing.T) {
	rounds := backendtest.Rounds(24, 400)
	const lanes = 2
	for n := range lanes {
		t.Run(fmt.Sprint("lane ", n), func(t *testing.T) {
			t.Parallel()
			folder := openDir(t)
			l := &life{t: t, folder: folder, ledger: filepath.Join(folder, "ledger"), texts: map[string]*text{},
				config: onePerson(t, askingAlways(t), "backends: {local: {workdir: "+openDir(t)+"}}",
					"limits: {pending_approvals: {caller: 5000, session: 5000, user: 5000}}")}
			for n := 0; n < rounds/lanes || !l.showsBoth() && l.hasTime(); n++ {
				l.round(max(1, n-rounds/lanes))
			}
			l.last()
		})
	}
}

// life is one state folder through many sidecars.
type life struct {
	t                      *testing.T
	folder, ledger, config string

	mu    sync.Mutex
	texts map[string]*text // by command
	made  int
	// approved are those whose approval was acknowledged since the last start.
	approved []string
}

// text is one command and all that happened to it. Its line is its own.
type text struct {
	line string
	// id is the request's, if it has one.
	id string
	// yes are the approvals to which somebody said yes, acknowledged or not; told
	// those where it was; no those whose denial was.
	yes, told, no map[string]bool
}

// showsBoth says whether something ran and something was denied.
func (l *life) showsBoth() bool {
	for _, made := range l.texts {
		if len(made.no) > 0 {
			return len(l.runs()) > 0
		}
	}
	return false
}

// hasTime says whether the test may go on for another round.
func (l *life) hasTime() bool {
	end, bounded := l.t.Deadline()
	return !bounded || time.Until(end) > time.Minute
}

// round runs a sidecar, with agents and operators at its listeners, until it is killed: the later, the more patience it has with
// a slow machine.
func (l *life) round(patience int) {
	p := launch(l.t, l.folder, l.config)
	ctx, end := context.WithCancel(l.t.Context())
	defer end()
	var people sync.WaitGroup
	if rand.IntN(8) > 0 { // else it is killed while it starts
		p.awaitServing(l.t)
		l.checkApproved(p)
		for range 3 {
			people.Go(func() { l.ask(ctx, p.agent) })
		}
		for range 2 {
			people.Go(func() { l.answer(ctx, p.operator) })
		}
	}
	time.Sleep(time.Duration(rand.IntN(400*patience)) * time.Millisecond) // the moment of the kill is to be any
	p.kill()
	end()
	people.Wait()
}

// ask brings new commands, and earlier ones again, until the sidecar is gone.
func (l *life) ask(ctx context.Context, agent *client.Client) {
	for ctx.Err() == nil {
		req := l.next()
		if _, err := agent.Execute(ctx, req, client.News{}); err != nil {
			return
		}
	}
}

// next is a new request, or one that was sent before.
func (l *life) next() bailiff.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	command, made := l.pick()
	req := atTerminal("s1", command)
	req.ID, req.WaitSeconds = made.id, rand.IntN(3)
	return req
}

func (l *life) pick() (string, *text) {
	if len(l.texts) > 0 && rand.IntN(2) == 0 {
		for command, made := range l.texts { // any
			return command, made
		}
	}
	l.made++
	made := &text{line: fmt.Sprint("line-", l.made), yes: map[string]bool{}, told: map[string]bool{}, no: map[string]bool{}}
	if rand.IntN(2) == 0 {
		made.id = "r-" + made.line
	}
	command := fmt.Sprintf("echo %s >> %s", made.line, l.ledger)
	l.texts[command] = made
	return command, made
}

// answer says yes or no to what is pending, until the sidecar is gone.
func (l *life) answer(ctx context.Context, operator *client.Client) {
	for ctx.Err() == nil {
		page, err := operator.Approvals(ctx, api.Query{State: bailiff.ApprovalPending, Limit: 20})
		if err != nil {
			return
		}
		for _, e := range page.Approvals {
			if err := l.say(ctx, operator, e); err != nil {
				return
			}
		}
	}
}

// say gives an answer and notes it, a yes before it is given. Its error says that
// the sidecar is gone.
func (l *life) say(ctx context.Context, operator *client.Client, e api.Entry) error {
	yes := rand.IntN(3) > 0
	l.note(e, func(made *text) {
		if yes {
			made.yes[e.ID] = true
		}
	})
	var err error
	if yes {
		_, err = operator.Approve(ctx, e.ID, "")
	} else {
		_, err = operator.Deny(ctx, e.ID, "no")
	}
	var settled *api.Problem
	if errors.As(err, &settled) {
		return nil // the other operator was faster
	}
	if err != nil {
		return err
	}
	l.note(e, func(made *text) {
		if !yes {
			made.no[e.ID] = true
			return
		}
		made.told[e.ID] = true
		l.approved = append(l.approved, e.ID)
	})
	return nil
}

func (l *life) note(e api.Entry, note func(*text)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	note(l.texts[e.Request.Args.Command])
}

// checkApproved holds a sidecar to what the one before has acknowledged.
func (l *life) checkApproved(p *process) {
	for _, id := range l.approved {
		shown, err := p.operator.Approval(l.t.Context(), id)
		if err != nil || shown.Approval.State != bailiff.ApprovalApproved {
			l.t.Errorf("approval %s was acknowledged, and is %s: %s, %v", id, shown.Approval.State, shown.Approval.Message, err)
		}
	}
	l.approved = nil
}

// last ends the life in order and checks all of it.
func (l *life) last() {
	p := launch(l.t, l.folder, l.config)
	p.awaitServing(l.t)
	l.checkApproved(p)
	before := l.runs()
	unused := l.useGrants(p)
	p.stop(l.t)
	verified(l.t, filepath.Join(l.folder, "state"))
	redeemed := l.redeemed()
	ran, told, denied := 0, 0, 0
	for _, made := range l.texts {
		l.checkText(made, before[made.line], redeemed)
		ran, told, denied = ran+before[made.line], told+len(made.told), denied+len(made.no)
	}
	l.t.Logf("%d commands; %d yes and %d no were acknowledged; %d runs, %d grants were left to use at the end", len(l.texts),
		told, denied, ran, unused)
	if ran == 0 || denied == 0 {
		l.t.Error("nothing ran or nothing was denied, so that this shows nothing")
	}
}

// useGrants sends what grants are left for, which must run by them, once. An id
// that was used may not run again, so that none is sent.
func (l *life) useGrants(p *process) int {
	grants, err := p.operator.Grants(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	commands := map[string]string{} // by approval
	for command, made := range l.texts {
		for id := range made.yes {
			commands[id] = command
		}
	}
	for _, g := range grants {
		req := atTerminal("s1", commands[g.ApprovalID])
		req.WaitSeconds = 0
		a := ask(l.t, p.agent, req)
		if a.Status != bailiff.Completed || a.Approval == nil || a.Approval.ID != g.ApprovalID {
			l.t.Errorf("grant %s was left, and the answer is %s: %s", g.ID, a.Status, a.Message)
		}
		if a = ask(l.t, p.agent, req); a.Status != bailiff.ApprovalRequired {
			l.t.Errorf("grant %s was used, and the answer is %s: %s", g.ID, a.Status, a.Message)
		}
	}
	return len(grants)
}

// checkText holds what a command did against what people said of it.
func (l *life) checkText(made *text, ran int, redeemed map[string]int) {
	if ran > len(made.yes) {
		l.t.Errorf("%s ran %d times, and %d times somebody said yes; denied were %d", made.line, ran, len(made.yes), len(made.no))
	}
	if made.id != "" && ran > 1 {
		l.t.Errorf("%s ran %d times under one request id", made.line, ran)
	}
	used := 0
	for id := range made.yes {
		used += redeemed[id]
		if redeemed[id] > 1 {
			l.t.Errorf("approval %s of %s was used %d times", id, made.line, redeemed[id])
		}
		if made.told[id] && redeemed[id] == 0 {
			l.t.Errorf("approval %s of %s was acknowledged and is neither used nor left", id, made.line)
		}
	}
	for id := range made.no {
		if redeemed[id] > 0 {
			l.t.Errorf("approval %s of %s was denied and used", id, made.line)
		}
	}
	if ran > used {
		l.t.Errorf("%s ran %d times by %d used approvals", made.line, ran, used)
	}
}

// runs counts the lines that commands left.
func (l *life) runs() map[string]int {
	runs := map[string]int{}
	for _, line := range linesIn(l.t, l.ledger) {
		runs[line]++
	}
	return runs
}

// redeemed counts the uses of approvals in the decision log, which may have one
// step twice, with the same time.
func (l *life) redeemed() map[string]int {
	seen := map[string][]string{}
	err := audit.Tail(l.t.Context(), filepath.Join(l.folder, "state"), audit.Selection{Last: 1_000_000}, func(line []byte) error {
		e, err := readEvent(line)
		if message := e.Custom.Message; err == nil && strings.HasPrefix(message, "redeemed: ") &&
			!slices.Contains(seen[e.Custom.Approval.ID], e.Timestamp) {
			seen[e.Custom.Approval.ID] = append(seen[e.Custom.Approval.ID], e.Timestamp)
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	counts := map[string]int{}
	for id, times := range seen {
		counts[id] = len(times)
	}
	return counts
}

// loggedStep is what is read of an event.
type loggedStep struct {
	Timestamp string `json:"timestamp"`
	Custom    struct {
		Message  string           `json:"message"`
		Approval bailiff.Approval `json:"approval"`
	} `json:"custom"`
}

func readEvent(line []byte) (e loggedStep, err error) {
	return e, json.Unmarshal(line, &e)
}
