package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/fleet"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// chaosRules let everything run in a backend, with a folder of the host if any, and ask about what says so.
func chaosRules(backend, written string) string {
	mount := ""
	if written != "" {
		mount = fmt.Sprintf(`{"source": %q, "target": "/written"}`, written)
	}
	return strings.NewReplacer("BACKEND", backend, "MOUNT", mount).Replace(`package bailiff

_asked if endswith(input.args.command, "# asked")

decision := object.union(_terms, {"outcome": "ask", "approval": {
	"reasons": [{"rule": "house.asks", "message": "It is asked.", "match": input.args.command}],
	"scopes": ["once"], "timeout_seconds": 600, "grant_seconds": 600, "quorum": 1,
}}) if _asked

decision := object.union(_terms, {"outcome": "allow"}) if not _asked

_terms := {
	"denials": [],
	"backend": {
		"name": "BACKEND", "network": "none", "image": "", "scope": "session", "idle_seconds": 900, "egress": [],
		"cpus": 0, "memory_mb": 0, "disk_mb": 0, "pids": 0, "read_only": true,
		"mounts": [MOUNT],
	},
	"env": {"forward": [], "withheld": [], "set": {}},
	"limits": {"timeout_seconds": 180, "output_bytes": 50000},
}
`)
}

const (
	chaosReplicas = 5
	chaosAgents   = 20
	chaosPeople   = 3
)

// chaosTime is how long sidecars are harmed: BAILIFF_TEST_CHAOS, such as 10m.
func chaosTime(tb testing.TB) time.Duration {
	tb.Helper()
	if text := os.Getenv("BAILIFF_TEST_CHAOS"); text != "" {
		d, err := time.ParseDuration(text)
		must(tb, err)
		return d
	}
	return time.Duration(backendtest.Rounds(10, 180)) * time.Second
}

// chaosSeed makes the same harm at the same times: BAILIFF_TEST_SEED.
func chaosSeed(tb testing.TB) uint64 {
	tb.Helper()
	text := os.Getenv("BAILIFF_TEST_SEED")
	if text == "" {
		return rand.Uint64()
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	must(tb, err)
	return seed
}

// Sidecars that share a store keep their promises together, however they are killed, paused and cut off.
func TestSidecarsThatAreHarmedKeepTheirPromises(t *testing.T) {
	backendtest.Long(t)
	t.Parallel()
	c := newChaos(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var acting sync.WaitGroup
	for n, r := range c.replicas {
		acting.Go(func() { r.disturb(ctx, c.random(n)) })
	}
	for n := range chaosAgents {
		acting.Go(func() { c.ask(ctx, n, c.random(100+n)) })
	}
	for n := range chaosPeople {
		acting.Go(func() { c.answer(ctx, c.random(200+n)) })
	}
	acting.Go(func() { c.freeze(ctx, c.random(300)) })
	sleep(ctx, chaosTime(t))
	awaittest.Until(t, "something ran, and was answered with yes and no", c.showsSomething)
	end()
	acting.Wait()
	c.end()
	c.check()
}

// chaos is sidecars, and all that was asked of them and acknowledged by them.
type chaos struct {
	t        *testing.T
	seed     uint64
	depot    *depot
	written  string // the folder in which commands write
	replicas []*replica

	mu      sync.Mutex
	texts   map[string]*text // by line
	asked   map[string]bool  // lines about whose request a person is asked
	done    map[string]bool  // lines whose request was acknowledged to have run
	answers map[string]int   // of requests, by what they say
	// freezes are those that all confirmed, warned those of which a sidecar was silent.
	freezes, warned int
}

// showsSomething says whether enough happened for the check at the end to be one.
func (c *chaos) showsSomething() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var yes, no bool
	for _, made := range c.texts {
		yes, no = yes || len(made.told) > 0, no || len(made.no) > 0
	}
	return len(c.done) > 0 && yes && no
}

func newChaos(t *testing.T) *chaos {
	c := &chaos{t: t, seed: chaosSeed(t), depot: openDepot(t), written: openDir(t), texts: map[string]*text{},
		asked: map[string]bool{}, done: map[string]bool{}, answers: map[string]int{}}
	t.Logf("BAILIFF_TEST_SEED=%d", c.seed)
	for n := range chaosAgents {
		must(t, os.WriteFile(c.file(n), nil, 0o666))
		must(t, os.Chmod(c.file(n), 0o666)) // sandboxes have users of their own
	}
	house := t.TempDir()
	save(t, filepath.Join(house, "house.rego"), chaosRules("bubblewrap", c.written))
	for n := range chaosReplicas {
		c.replicas = append(c.replicas, c.newReplica(fmt.Sprint("replica-", n), house))
	}
	for _, r := range c.replicas {
		r.start()
	}
	for _, r := range c.replicas {
		r.awaitServing(t)
	}
	return c
}

func (c *chaos) random(n int) *rand.Rand { return rand.New(rand.NewPCG(c.seed, uint64(n))) }

func (c *chaos) file(agent int) string { return filepath.Join(c.written, sessionOf(agent)) }

func sessionOf(agent int) string { return fmt.Sprint("s", agent) }

// replica is a sidecar with its ways to the database and from the others.
type replica struct {
	name, folder    string
	agent, operator *client.Client
	store, peers    *line
	tb              testing.TB

	cmd     *exec.Cmd
	log     *bytes.Buffer // of the run
	ended   chan struct{} // closed when the run is over
	harms   map[string]int
	unasked []string // how runs ended that nothing had ended
}

func (c *chaos) newReplica(name, house string) *replica {
	c.t.Helper()
	certificate, key := c.depot.authority.Issue(c.t, name)
	listen := porttest.Address(c.t)
	r := &replica{tb: c.t, name: name, folder: openDir(c.t), peers: lineTo(c.t, listen), harms: map[string]int{}}
	var socket string
	r.store, socket = socketLineTo(c.t, c.depot.server.Dir)
	dsn := filepath.Join(c.t.TempDir(), "dsn")
	must(c.t, os.WriteFile(dsn, []byte("host="+socket+" user=postgres dbname=bailiff"), 0o600))
	text := patient(onePerson(c.t, "backends: {bubblewrap: {mounts_allowed: ["+c.written+"]}}",
		"limits: {warm: {sandboxes: 0}, pending_approvals: {caller: 5000, session: 5000, user: 5000}}",
		"policies: {require_tests: false, paths: ["+house+"]}", fmt.Sprintf(`store:
  postgres: {dsn: {file: %s}}
  replica: %s
  peer: {listen: "%s", address: "%s", tls: {ca: %s, cert: %s, key: %s}}
`, dsn, name, listen, r.peers.listener.Addr(), c.depot.authority.Path, certificate, key)))
	save(c.t, filepath.Join(r.folder, "bailiff.yaml"), text)
	_, sockets, _ := strings.Cut(text, `listen: "unix://`)
	sockets, _, _ = strings.Cut(sockets, "/a.sock")
	r.agent, r.operator = clientOf(c.t, "unix://"+sockets+"/a.sock"), clientOf(c.t, "unix://"+sockets+"/o.sock")
	c.t.Cleanup(r.kill)
	return r
}

// start starts a run, whose end is noted.
func (r *replica) start() {
	r.log, r.ended = &bytes.Buffer{}, make(chan struct{})
	r.cmd = exec.Command("sidecar", filepath.Join(r.folder, "bailiff.yaml"))
	r.cmd.Stderr = r.log
	if err := r.cmd.Start(); err != nil {
		r.tb.Errorf("starting %s: %v", r.name, err)
		close(r.ended)
		return
	}
	go func(cmd *exec.Cmd, ended chan struct{}) {
		defer close(ended)
		_ = cmd.Wait()
	}(r.cmd, r.ended)
}

func (r *replica) signal(s syscall.Signal) { _ = r.cmd.Process.Signal(s) }

func (r *replica) kill() {
	r.signal(syscall.SIGKILL)
	<-r.ended
}

func (r *replica) awaitServing(tb testing.TB) {
	tb.Helper()
	awaittest.Until(tb, r.name+" serves", func() bool {
		select {
		case <-r.ended:
			tb.Fatalf("%s ended: %s", r.name, r.log)
		default:
		}
		_, err := r.operator.Status(tb.Context())
		return err == nil
	})
}

// disturb harms a sidecar again and again, and leaves it as it should be. One that ends by itself is
// started again, as a service manager would.
func (r *replica) disturb(ctx context.Context, random *rand.Rand) {
	upTo := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
	harms := []struct {
		name        string
		begin, over func()
		most        time.Duration
	}{
		{"killed", r.kill, func() {}, 3 * time.Second},
		{"killed", r.kill, func() {}, time.Second},
		{"paused", func() { r.signal(syscall.SIGSTOP) }, func() { r.signal(syscall.SIGCONT) }, 20 * time.Second},
		{"paused", func() { r.signal(syscall.SIGSTOP) }, func() { r.signal(syscall.SIGCONT) }, 4 * time.Second},
		{"cut off from PostgreSQL", r.store.sever, r.store.mend, 8 * time.Second},
		{"held from PostgreSQL", r.store.hold, r.store.mend, 8 * time.Second},
		{"cut off from the others", r.peers.sever, r.peers.mend, 5 * time.Second},
		{"held from the others", r.peers.hold, r.peers.mend, 5 * time.Second},
	}
	for ctx.Err() == nil {
		sleep(ctx, time.Second+upTo(8*time.Second))
		harm := harms[random.IntN(len(harms))]
		r.harms[harm.name]++
		r.restartEnded(true)
		harm.begin()
		sleep(ctx, upTo(harm.most))
		harm.over()
		r.restartEnded(false)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// restartEnded starts a sidecar again that has ended; unasked says that nothing had ended it.
func (r *replica) restartEnded(unasked bool) {
	select {
	case <-r.ended:
	default:
		return
	}
	if unasked {
		lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
		r.unasked = append(r.unasked, lines[len(lines)-1])
	}
	r.start()
}

// any is one of the sidecars, however it is.
func (c *chaos) any(random *rand.Rand) *replica { return c.replicas[random.IntN(len(c.replicas))] }

// ask sends what an agent of a session wants, some of it again at another sidecar.
func (c *chaos) ask(ctx context.Context, agent int, random *rand.Rand) {
	for n := 0; ctx.Err() == nil; n++ {
		line := fmt.Sprintf("%s-%d", sessionOf(agent), n)
		made := &text{line: line, yes: map[string]bool{}, told: map[string]bool{}, no: map[string]bool{}}
		req := inChat(sessionOf(agent), fmt.Sprintf("echo %s >> /written/%s", line, sessionOf(agent)))
		req.Session.UserID, req.WaitSeconds = fmt.Sprint("u", agent), 2+random.IntN(4)
		asked := random.IntN(2) == 0
		if asked {
			req.Args.Command += " # asked"
		}
		if !asked || random.IntN(2) == 0 {
			made.id = "r-" + line
		}
		req.ID = made.id
		c.mu.Lock()
		c.texts[line], c.asked[line] = made, asked
		c.mu.Unlock()
		for range 1 + random.IntN(3) {
			c.send(ctx, c.any(random), req, line)
		}
	}
}

func (c *chaos) send(ctx context.Context, to *replica, req bailiff.Request, line string) {
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	a, err := to.agent.Execute(ctx, req, client.News{})
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
		c.answers["none"]++
	case a.Status == bailiff.Completed:
		c.done[line] = true
		fallthrough
	default:
		c.answers[strings.TrimSpace(fmt.Sprint(a.Status, " ", a.Code))]++
	}
}

// answer says yes or no to what is pending, at any sidecar.
func (c *chaos) answer(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		once, cancel := context.WithTimeout(ctx, 10*time.Second)
		page, err := c.any(random).operator.Approvals(once, api.Query{State: bailiff.ApprovalPending, Limit: 20})
		if err == nil && len(page.Approvals) > 0 {
			c.say(once, random, page.Approvals[random.IntN(len(page.Approvals))])
		}
		cancel()
		sleep(ctx, time.Duration(random.IntN(100))*time.Millisecond)
	}
}

// say gives an answer and notes it, a yes before it is given.
func (c *chaos) say(ctx context.Context, random *rand.Rand, e api.Entry) {
	line := strings.Fields(e.Request.Args.Command)[1]
	yes := random.IntN(3) > 0
	note := func(to func(*text)) {
		c.mu.Lock()
		defer c.mu.Unlock()
		to(c.texts[line])
	}
	var err error
	if yes {
		note(func(made *text) { made.yes[e.ID] = true })
		if _, err = c.any(random).operator.Approve(ctx, e.ID, ""); err == nil {
			note(func(made *text) { made.told[e.ID] = true })
		}
	} else if _, err = c.any(random).operator.Deny(ctx, e.ID, "no"); err == nil {
		note(func(made *text) { made.no[e.ID] = true })
	}
}

// freeze freezes sessions and thaws them. What a session did once the freeze has returned is a fault,
// unless a sidecar was named that did not answer.
func (c *chaos) freeze(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		agent := random.IntN(chaosAgents)
		session := sessionOf(agent)
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		f, err := c.any(random).operator.Freeze(once, api.Freezing{Kind: api.FreezeSession, ID: session, Reason: "chaos"})
		cancel()
		before := len(linesIn(c.t, c.file(agent)))
		switch {
		case err != nil:
		case f.Warning != "":
			c.warned++
		default:
			c.freezes++
			sleep(ctx, 1500*time.Millisecond)
			if after := linesIn(c.t, c.file(agent)); len(after) > before {
				c.t.Errorf("session %s was frozen, and then wrote %q", session, after[before:])
			}
		}
		c.thaw(ctx, random, session)
		sleep(ctx, time.Duration(random.IntN(2000))*time.Millisecond)
	}
}

// thaw asks one sidecar after the other, of which some do not answer.
func (c *chaos) thaw(ctx context.Context, random *rand.Rand, session string) {
	for ctx.Err() == nil {
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		err := c.any(random).operator.Thaw(once, api.FreezeSession, session)
		cancel()
		var known *api.Problem
		if err == nil || errors.As(err, &known) && known.Status == 404 {
			return
		}
		sleep(ctx, 10*time.Millisecond)
	}
}

// end kills one sidecar and stops the others in order. No sandbox may be left of either.
func (c *chaos) end() {
	for _, r := range c.replicas {
		r.restartEnded(true)
		r.awaitServing(c.t)
	}
	for n := range chaosAgents {
		c.send(c.t.Context(), c.replicas[n%chaosReplicas], withID(inChat(sessionOf(n), "true"), fmt.Sprint("last ", n)), "")
	}
	dead := c.replicas[0]
	dead.kill()
	c.wantNothingOf(dead)
	for _, r := range c.replicas[1:] {
		r.signal(syscall.SIGTERM)
	}
	for _, r := range c.replicas[1:] {
		<-r.ended
		if !r.cmd.ProcessState.Success() {
			c.t.Errorf("stopping %s: %s\n%s", r.name, r.cmd.ProcessState, r.log)
		}
		c.wantNothingOf(r)
	}
}

// wantNothingOf wants no process to be left of a sidecar's.
func (c *chaos) wantNothingOf(r *replica) {
	c.t.Helper()
	awaittest.Until(c.t, "no process of "+r.name+" is left", func() bool {
		return len((&killedStarts{folder: r.folder, killed: []int{r.cmd.Process.Pid}}).processes()) == 0
	})
}

// check compares what was written with the logs, and both with what was acknowledged.
func (c *chaos) check() {
	logs := c.logs()
	ran := map[string]int{}
	for n := range chaosAgents {
		for _, line := range linesIn(c.t, c.file(n)) {
			ran[line]++
			if !logs.allowed[line] {
				c.t.Errorf("%s ran, and no log says that it may", line)
			}
		}
	}
	sums := map[string]int{}
	for line, made := range c.texts {
		c.checkText(made, ran[line], logs)
		if c.done[line] && ran[line] == 0 {
			c.t.Errorf("%s was said to have run, and did not", line)
		}
		sums["yes"] += len(made.told)
		sums["no"] += len(made.no)
		sums["runs"] += ran[line]
	}
	harms := map[string]int{}
	for _, r := range c.replicas {
		for name, n := range r.harms {
			harms[name] += n
		}
		for _, why := range r.unasked {
			c.t.Logf("%s ended by itself: %s", r.name, why)
		}
	}
	c.t.Logf("%v: %v; %d commands, %d runs, %d yes, %d no, %d freezes confirmed by all, %d with a warning; answers: %v",
		chaosTime(c.t), harms, len(c.texts), sums["runs"], sums["yes"], sums["no"], c.freezes, c.warned, c.answers)
}

func (c *chaos) checkText(made *text, ran int, logs chaosLogs) {
	used := 0
	for id := range made.yes {
		used += len(logs.redeemed[id])
	}
	if c.asked[made.line] && (ran > len(made.yes) || ran > used) {
		c.t.Errorf("%s ran %d times; %d times a person said yes, and by the logs %d grants were used", made.line, ran, len(made.yes), used)
	}
	if made.id != "" && ran > 1 {
		c.t.Errorf("%s ran %d times under one request id", made.line, ran)
	}
	for _, id := range slices.Concat(slices.Collect(maps.Keys(made.yes)), slices.Collect(maps.Keys(made.no))) {
		if n := len(logs.redeemed[id]); n > 1 || n > 0 && made.no[id] {
			c.t.Errorf("approval %s of %s was used %d times; it was denied: %v", id, made.line, n, made.no[id])
		}
		if n := len(logs.answered[id]); n > 1 || n == 0 && (made.told[id] || made.no[id]) {
			c.t.Errorf("approval %s of %s was answered %d times by the logs: %v", id, made.line, n, logs.answered[id])
		}
		if made.told[id] && made.no[id] {
			c.t.Errorf("approval %s of %s was acknowledged to be approved and denied", id, made.line)
		}
	}
}

// chaosLogs is what the logs of all sidecars say. Two that tell of one step tell of one time.
type chaosLogs struct {
	allowed            map[string]bool
	answered, redeemed map[string]map[string]bool
}

// logs verifies all logs and reads them.
func (c *chaos) logs() chaosLogs {
	db, err := postgres.Open(c.t.Context(), postgres.Config{DSN: bailiff.NewSecret(c.depot.server.DSN("bailiff"))})
	must(c.t, err)
	defer db.Close()
	heads, err := fleet.Heads(c.t.Context(), db)
	must(c.t, err)
	var told []audit.Told
	for _, h := range heads {
		told = append(told, audit.Told(h))
	}
	var folders []string
	for _, r := range c.replicas {
		folders = append(folders, filepath.Join(r.folder, "state"))
	}
	verified, err := audit.VerifyFleet(folders, told)
	must(c.t, err)
	for _, l := range verified {
		if l.State != audit.LogWhole {
			c.t.Errorf("the log of %s is %s: %+v", l.Replica, l.State, l.Report)
		}
	}
	all := chaosLogs{map[string]bool{}, map[string]map[string]bool{}, map[string]map[string]bool{}}
	for _, folder := range folders {
		must(c.t, audit.Tail(c.t.Context(), folder, audit.Selection{Last: 1 << 30}, all.read))
	}
	return all
}

func (l chaosLogs) read(line []byte) error {
	e, err := api.ReadLine(line)
	if err != nil {
		return err
	}
	switch step, _, _ := strings.Cut(e.Custom.Message, ":"); {
	case e.Custom.Event == api.DecisionEvent:
		if words := strings.Fields(e.ReadInput().Args.Command); len(words) > 1 {
			l.allowed[words[1]] = true
		}
	case e.Custom.Approval == nil:
	case step == "approved" || step == "denied":
		note(l.answered, e.Custom.Approval.ID, fmt.Sprint(step, " ", e.Timestamp))
	case step == "redeemed":
		note(l.redeemed, e.Custom.Approval.ID, fmt.Sprint(step, " ", e.Timestamp))
	}
	return nil
}

func note(steps map[string]map[string]bool, id, step string) {
	if steps[id] == nil {
		steps[id] = map[string]bool{}
	}
	steps[id][step] = true
}
