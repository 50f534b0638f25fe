package app

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/fleet/peers/peerstest"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// depot is where sidecars of a test meet: a database, and an authority for their certificates.
type depot struct {
	server    *postgrestest.Server
	authority *peerstest.Authority
	dsn       string
}

func openDepot(tb testing.TB) *depot {
	tb.Helper()
	c := &depot{server: postgrestest.Start(tb), authority: peerstest.New(tb)}
	c.dsn = filepath.Join(tb.TempDir(), "dsn")
	must(tb, os.WriteFile(c.dsn, []byte(c.server.Empty(tb)), 0o600))
	return c
}

// member is the configuration of a sidecar of that name.
func (c *depot) member(tb testing.TB, name string) string {
	tb.Helper()
	return onePerson(tb, "backends: {bubblewrap: {}}", keepNoneReady, c.store(tb, name), everything(tb, "bubblewrap", ""))
}

// everything is the section that puts nothing but chaosRules into force, which start fast, for a backend and a folder of the host,
// if any.
func everything(tb testing.TB, backend, written string) (section string) {
	tb.Helper()
	house := openDir(tb)
	save(tb, filepath.Join(house, "house.rego"), chaosRules(backend, written))
	return "policies: {require_tests: false, paths: [" + house + "]}"
}

// store is the section by which a sidecar of that name meets the others.
func (c *depot) store(tb testing.TB, name string) string {
	tb.Helper()
	certificate, key := c.authority.Issue(tb, name)
	address := porttest.Address(tb)
	return fmt.Sprintf(`store:
  postgres: {dsn: {file: %s}}
  replica: %s
  peer: {listen: "%s", address: "%s", tls: {ca: %s, cert: %s, key: %s}}
`, c.dsn, name, address, address, c.authority.Path, certificate, key)
}

func (c *depot) start(tb testing.TB, name string) *office {
	tb.Helper()
	return startOffice(tb, openDir(tb), c.member(tb, name))
}

func (c *depot) launch(tb testing.TB, name string) *process {
	tb.Helper()
	p := launch(tb, openDir(tb), c.member(tb, name))
	p.awaitServing(tb)
	return p
}

// launchWith is launch with a folder of the host that commands see as /written.
func (c *depot) launchWith(tb testing.TB, name, written string) *process {
	tb.Helper()
	p := launch(tb, openDir(tb), c.asking(tb, name, written))
	p.awaitServing(tb)
	return p
}

// asking is the configuration of a sidecar that has such a folder, and asks about what says so.
func (c *depot) asking(tb testing.TB, name, written string) string {
	tb.Helper()
	return onePerson(tb, "backends: {bubblewrap: {mounts_allowed: ["+written+"]}}", keepNoneReady, c.store(tb, name),
		everything(tb, "bubblewrap", written))
}

func withID(req bailiff.Request, id string) bailiff.Request {
	req.ID = id
	return req
}

// Whichever sidecar is asked, a session runs at one.
func TestASessionIsServedByOneSidecarWhicheverIsAsked(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	one, two := c.start(t, "one"), c.start(t, "two")
	made := mustComplete(t, one.agent, inChat("s1", "cd /tmp; echo kept > here"))
	var printed []string
	a, err := two.agent.Execute(t.Context(), inChat("s1", "pwd; cat here"), client.News{
		Output: func(piece []byte) { printed = append(printed, string(piece)) }})
	must(t, err)
	if a.SandboxID != made.SandboxID || a.Output != "/tmp\nkept\n" || strings.Join(printed, "") != a.Output {
		t.Errorf("the other sidecar ran it in %s, which printed %q (%q as it went); it was in %s", a.SandboxID, a.Output, printed,
			made.SandboxID)
	}
	other := inChat("s2", "cat /tmp/here")
	other.Session.UserID = "43"
	if a := mustComplete(t, two.agent, other); a.SandboxID == made.SandboxID || a.ExitCode == 0 {
		t.Errorf("another user's session ran in %s too", a.SandboxID)
	}
	if left := two.enforcer.Sandboxes(); len(left) != 1 {
		t.Errorf("the other sidecar has %d sandboxes, want that of its own session", len(left))
	}
	if log := string(bytes.Join(one.decisions.Recent("s1", 100), nil)); !strings.Contains(log, a.DecisionID) ||
		!strings.Contains(log, `"caller":{"name":"test"}`) {
		t.Errorf("the log of its home does not say who sent it: %s", log)
	}
	status, err := two.operator.Status(t.Context())
	must(t, err)
	if r := status.Replicas; len(r) != 2 || r[0].Name != "one" || r[0].State != "lives" || r[0].Homes != 2 || r[0].Revision == "" ||
		!r[1].Self {
		t.Errorf("the status lists the sidecars %+v", r)
	}
	process := mustComplete(t, two.agent, inBackground("s1", counting)).ProcessID
	tell(t, one.agent, process, "one", "1 one")
	tell(t, two.agent, process, "two", "2 two")
	ended, err := two.agent.EndSession(t.Context(), "s1")
	must(t, err)
	if ended.Removed != 1 || ended.Processes != 1 || len(one.enforcer.Sandboxes()) != 0 {
		t.Errorf("its end removed %+v", ended)
	}
}

// A request id runs once, wherever it is sent.
func TestARequestIDIsOneOverAllSidecars(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	one, two := c.start(t, "one"), c.start(t, "two")
	req := withID(inChat("s1", "echo once >> /tmp/witness; cat /tmp/witness"), "r1")
	first := mustComplete(t, one.agent, req)
	if again := mustComplete(t, two.agent, req); again.Output != "once\n" || again.DecisionID != first.DecisionID {
		t.Errorf("sent to the other sidecar it printed %q", again.Output)
	}
	if a := ask(t, two.agent, withID(inChat("s1", "true"), "r1")); a.Code != bailiff.CodeConflict {
		t.Errorf("another request of that id is answered %s, %s", a.Status, a.Code)
	}
}

// A freeze of all that is said at one of five sidecars has stopped what runs at each when it returns.
func TestAFreezeHasStoppedFiveSidecarsWhenItReturns(t *testing.T) {
	backendtest.Long(t)
	t.Parallel()
	c := openDepot(t)
	var members []*process
	for n := range chaosReplicas {
		members = append(members, c.launch(t, fmt.Sprint("replica-", n)))
	}
	for round := range 5 {
		var ran []chan api.Answer
		for n, m := range members {
			req := inChat(fmt.Sprint("s", round, n), "sleep 600")
			req.Session.UserID = req.Session.ID
			answer := make(chan api.Answer, 1)
			ran = append(ran, answer)
			go func() {
				a, _ := m.agent.Execute(t.Context(), req, client.News{})
				answer <- a
			}()
			awaittest.Until(t, "the command to run", func() bool {
				list, err := m.operator.Sandboxes(t.Context())
				return err == nil && slices.ContainsFunc(list, func(s api.Sandbox) bool { return s.Users == 1 })
			})
		}
		begun := time.Now()
		f, err := members[0].operator.Freeze(t.Context(), api.Freezing{Kind: api.FreezeAll, Reason: "test"})
		if must(t, err); f.Warning != "" {
			t.Errorf("it warns: %s", f.Warning)
		}
		t.Logf("five sidecars were frozen after %v", time.Since(begun))
		for n, m := range members {
			list, err := m.operator.Sandboxes(t.Context())
			if must(t, err); slices.ContainsFunc(list, func(s api.Sandbox) bool { return s.Users > 0 }) {
				t.Errorf("at sidecar %d there still runs %+v", n, list)
			}
			if a := <-ran[n]; a.Status != bailiff.Interrupted {
				t.Errorf("what ran at sidecar %d ended as %s", n, a.Status)
			}
		}
		must(t, members[0].operator.Thaw(t.Context(), api.FreezeAll, ""))
		for n, m := range members {
			mustComplete(t, m.agent, inChat(fmt.Sprint("thawed at ", n), "true"))
		}
	}
}

// A sidecar that was paused for so long that another took its sessions over ends what it ran of
// them, and sends what comes for them there. Who freezes what it runs meanwhile hears where that is.
func TestAPausedSidecarYields(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	one, two := c.launch(t, "one"), c.launch(t, "two")
	mustComplete(t, one.agent, inChat("s1", "echo one > /tmp/whose"))
	other := inChat("s9", "true")
	other.Session.UserID = "43"
	left := mustComplete(t, one.agent, other)
	awaittest.Until(t, "its sandboxes to be told of", func() bool {
		return c.server.Number(t, "bailiff", "SELECT count(*) FROM bailiff.replicas WHERE sandboxes LIKE '%"+left.SandboxID+"%'") == 1
	})
	lost := make(chan api.Answer, 1)
	go func() {
		a, _ := one.agent.Execute(t.Context(), inChat("s1", "sleep 600"), client.News{})
		lost <- a
	}()
	awaittest.Until(t, "the command to run", func() bool {
		list, err := one.operator.Sandboxes(t.Context())
		return err == nil && slices.ContainsFunc(list, func(s api.Sandbox) bool { return s.Users == 1 })
	})
	sent := sendAlways(t, one)
	one.pause(t)
	served := mustComplete(t, two.agent, inChat("s1", "cat /tmp/whose; echo two > /tmp/whose"))
	for kind, id := range map[string]string{api.FreezeSession: "s9", api.FreezeUser: "telegram:43"} {
		f, err := two.operator.Freeze(t.Context(), api.Freezing{Kind: kind, ID: id})
		want := []string{"at sidecar one: bubblewrap sandbox " + left.SandboxID + " of session s9"}
		if must(t, err); !slices.Equal(f.MayGoOn, want) {
			t.Errorf("a freeze of %s %s says that there may go on %q, want %q", kind, id, f.MayGoOn, want)
		}
		must(t, two.operator.Thaw(t.Context(), kind, id))
	}
	f, err := two.operator.Freeze(t.Context(), api.Freezing{Kind: api.FreezeSession, ID: "s0"})
	if must(t, err); !slices.Equal(f.MayGoOn, []string{"at sidecar one: nothing but what it began in its last seconds"}) {
		t.Errorf("a freeze of what the paused sidecar does not have says that there may go on %q", f.MayGoOn)
	}
	sent.mark()
	must(t, one.cmd.Process.Signal(syscall.SIGCONT))
	awaittest.Until(t, "a freeze that leaves nothing running", func() bool {
		f, err := two.operator.Freeze(t.Context(), api.Freezing{Kind: api.FreezeSession, ID: "s0"})
		return err == nil && f.MayGoOn == nil && f.Warning == ""
	})
	if a := <-lost; a.Status != bailiff.Interrupted {
		t.Errorf("what ran there ended as %s: %s", a.Status, a.Message)
	}
	awaittest.Until(t, "the paused sidecar to send its session on", func() bool {
		a, err := one.agent.Execute(t.Context(), inChat("s1", "cat /tmp/whose"), client.News{})
		return err == nil && a.SandboxID == served.SandboxID && a.Output == "two\n"
	})
	sent.end()
	for n, answers := range sent.after {
		for i, a := range answers {
			// The first was sent before the pause, and may have run before it.
			if i > 0 && a.Status == bailiff.Completed && a.SandboxID != served.SandboxID {
				t.Errorf("sender %d: after the pause a command ran in %s, want only in %s", n, a.SandboxID, served.SandboxID)
			}
			if a.Status == bailiff.Completed || a.Message != "" {
				continue
			}
			t.Errorf("sender %d: it is answered %s, %s, without a word why", n, a.Status, a.Code)
		}
	}
}

// senders ask a sidecar for one command after another.
type senders struct {
	mu     sync.Mutex
	marked bool
	over   bool
	after  [4][]api.Answer // of each, since they were marked
	done   sync.WaitGroup
}

func sendAlways(tb testing.TB, p *process) *senders {
	s := &senders{}
	for n := range s.after {
		s.done.Go(func() {
			for s.add(n, nil) {
				if a, err := p.agent.Execute(tb.Context(), inChat("s1", "true"), client.News{}); err == nil {
					s.add(n, &a)
				}
			}
		})
	}
	return s
}

// add notes an answer, and says whether to go on.
func (s *senders) add(n int, a *api.Answer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a != nil && s.marked {
		s.after[n] = append(s.after[n], *a)
	}
	return !s.over
}

func (s *senders) mark() { s.mu.Lock(); s.marked = true; s.mu.Unlock() }

func (s *senders) end() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.done.Wait()
}

// Without the database nothing new runs. What runs goes on to its end, or is stopped where the configuration
// says so.
func TestWithoutTheDatabaseNothingNewRuns(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	sidecars := map[string]*office{}
	for _, reaction := range []string{"finish", "stop"} {
		text := strings.Replace(c.member(t, reaction), "  replica:", "  on_outage: "+reaction+"\n  replica:", 1)
		sidecars[reaction] = startOffice(t, openDir(t), text)
	}
	of := func(session, command string) bailiff.Request {
		req := inChat(session, command)
		req.Session.UserID = session // so that each is served where it is asked
		return req
	}
	ran := map[string]chan api.Answer{}
	for reaction, s := range sidecars {
		ran[reaction] = make(chan api.Answer, 1)
		mustComplete(t, s.agent, of(reaction, "true"))
		go func() {
			a, _ := s.agent.Execute(t.Context(), of(reaction, "until test -e /tmp/end; do sleep 0.1; done; echo ended"), client.News{})
			ran[reaction] <- a
		}()
		awaittest.Until(t, "the command to run", func() bool { return s.enforcer.Sandboxes()[0].Users == 1 })
	}
	c.server.Kill()
	if a := <-ran["stop"]; a.Status != bailiff.Interrupted || !strings.Contains(a.Message, "does not answer") {
		t.Errorf("what was to be stopped ended as %s: %s", a.Status, a.Message)
	}
	for reaction, s := range sidecars {
		awaittest.Until(t, "requests to be refused", func() bool {
			a, err := s.agent.Execute(t.Context(), of(reaction, "true"), client.News{})
			return err == nil && a.Status == bailiff.Unavailable && strings.Contains(a.Message, "PostgreSQL")
		})
	}
	if list := sidecars["finish"].enforcer.Sandboxes(); len(list) != 1 || list[0].Users != 1 {
		t.Errorf("what was to go on has the sandboxes %+v", list)
	}
	c.server.Run(t)
	awaittest.Until(t, "its session to go on beside it", func() bool {
		a, err := sidecars["finish"].agent.Execute(t.Context(), of("finish", "touch /tmp/end"), client.News{})
		return err == nil && a.Status == bailiff.Completed
	})
	if a := <-ran["finish"]; a.Output != "ended\n" {
		t.Errorf("what was to go on ended as %s: %s", a.Status, a.Message)
	}
}

// What a caller may bring in a minute is for all sidecars together, as long as they live.
func TestSidecarsHaveACallersBoundTogether(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	text := strings.Replace(c.member(t, "one"), keepNoneReady, "limits: {warm: {sandboxes: 0}, requests_per_minute: {caller: 2}}", 1)
	one := startOffice(t, openDir(t), text)
	refusal := func() string { return ask(t, one.agent, inChat("s1", "true")).Message }
	alone := func() bool {
		said := refusal()
		return strings.Contains(said, "2 requests a minute") && !strings.Contains(said, "together")
	}
	awaittest.Until(t, "the bound of one", alone)
	two := c.launch(t, "two")
	awaittest.Until(t, "the bound of two", func() bool { return strings.Contains(refusal(), "at 2 sidecars together") })
	two.stop(t)
	awaittest.Until(t, "the bound of one again", alone)
}

// An account at a chat is connected at one sidecar, whichever asks, and at another once that is gone.
func TestAChatIsConnectedAtOneSidecar(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	telegram := telegramtest.New(t)
	telegram.Group(approvers, "42", "43", "44")
	guildOf := func(name string) *running {
		folder := openDir(t)
		text := guild(t, folder, telegram, fmt.Sprintf("approvals: %q", approvers)) + c.store(t, name)
		return serveGuild(t, folder, strings.NewReplacer("uids: [4242], platforms: [discord]", `platforms: ["*"]`,
			`/o.sock"}`, `/o.sock", allow_same_user: true}`).Replace(text))
	}
	one := guildOf("one")
	awaittest.Until(t, "the account to be connected", func() bool { return one.services.open[0].fault() == nil })
	two := guildOf("two")
	awaittest.Until(t, "the other to hear of it", func() bool { return two.services.open[0].fault() == nil })
	approved := func(session string, questions int) {
		t.Helper()
		ran := make(chan api.Answer, 1)
		req := inChat(session, "echo it ran # marked "+session)
		req.WaitSeconds = 60
		go func() {
			a, _ := two.client(t).Execute(t.Context(), req, client.News{})
			ran <- a
		}()
		question := theQuestion(telegram, questions)
		telegram.Click("43", approvers, question.ID, "Approve once")
		if a := <-ran; a.Output != "it ran\n" {
			t.Errorf("answered %s, %s", a.Status, a.Message)
		}
		telegram.Await(approvers, func(m []telegramtest.Message) bool {
			return len(m) == questions && strings.Contains(m[questions-1].Text, "approved by ben")
		})
	}
	approved("s1", 1)
	one.stop()
	approved("s2", 2)
}

// A sidecar that is told to stop waits for no step of its end longer than ten seconds, though PostgreSQL takes its bytes and
// never answers: connections that broke took fifteen to end, pool by pool.
func TestASidecarStopsThoughPostgreSQLIsHeld(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	way, socket := socketLineTo(t, c.server.Dir)
	must(t, os.WriteFile(c.dsn, []byte("host="+socket+" user=postgres dbname=bailiff"), 0o600))
	one := c.launch(t, "one")
	mustComplete(t, one.agent, inChat("s1", "true"))
	way.hold()
	for n := range 4 { // each has a connection that breaks
		go func() {
			_, _ = one.operator.Freeze(t.Context(), api.Freezing{Kind: api.FreezeSession, ID: fmt.Sprint(n)})
		}()
	}
	awaittest.Until(t, "the sidecar to miss PostgreSQL", func() bool {
		status, err := one.operator.Status(t.Context())
		return err == nil && strings.Contains(strings.Join(status.Warnings, " "), "does not answer")
	})
	must(t, one.cmd.Process.Signal(syscall.SIGTERM))
	ended := make(chan error, 1)
	go func() { ended <- one.cmd.Wait() }()
	begun := time.Now()
	select {
	case err := <-ended:
		t.Logf("it ended after %v", time.Since(begun))
		if err != nil {
			t.Errorf("it ended: %v\n%s", err, one.log.String())
		}
	case <-time.After(12 * time.Second):
		t.Errorf("it goes on\n%s", one.log.String())
	}
}
