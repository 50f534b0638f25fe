package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// What a killed sidecar served is served by another, and nothing runs a second time.
func TestAKilledSidecarsSessionsAreTakenOver(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	one, two := c.launch(t, "one"), c.launch(t, "two")
	req := withID(inChat("s1", "echo done"), "r1")
	mustComplete(t, one.agent, req)
	if a := mustComplete(t, two.agent, inChat("s1", "true")); a.SandboxID == "" {
		t.Error("it ran nowhere")
	}
	one.kill()
	killed := time.Now()
	mustComplete(t, two.agent, inChat("s1", "true"))
	t.Logf("served again after %v", time.Since(killed))
	a, err := two.agent.Execute(t.Context(), req, client.News{})
	must(t, err)
	if a.Code != bailiff.CodeOutcomeUnknown {
		t.Errorf("a request that the killed one ran is answered %s, %s", a.Status, a.Code)
	}
}

// A sidecar that stops gives its sessions away at once.
func TestAStoppedSidecarsSessionsAreTakenOverAtOnce(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	one, two := c.launch(t, "one"), c.launch(t, "two")
	mustComplete(t, one.agent, inChat("s1", "true"))
	mustComplete(t, two.agent, inChat("s1", "true"))
	one.stop(t)
	stopped := time.Now()
	mustComplete(t, two.agent, inChat("s1", "true"))
	if took := time.Since(stopped); took > 15*time.Second {
		t.Errorf("it took %v, as if it had been killed", took)
	}
	t.Logf("served again after %v", time.Since(stopped))
}

// While something runs at a sidecar that stops, its other sessions are served by another, and a request that
// waits for approvers goes on waiting there.
func TestWhatASidecarServesIsHandedOverWhileItStops(t *testing.T) {
	t.Parallel()
	c, written := openDepot(t), openDir(t)
	one, two := c.launchWith(t, "one", written), c.launchWith(t, "two", written)
	of := func(session, command string) bailiff.Request {
		req := inChat(session, command)
		req.Session.UserID, req.WaitSeconds = session, 60
		return withID(req, session+" "+command)
	}
	sent := func(to *process, req bailiff.Request) <-chan api.Answer {
		answer := make(chan api.Answer, 1)
		go func() {
			a, err := to.agent.Execute(t.Context(), req, client.News{})
			if err != nil {
				t.Error(err)
			}
			answer <- a
		}()
		return answer
	}
	for _, session := range []string{"idle", "busy", "waits", "asks"} {
		mustComplete(t, one.agent, of(session, "true"))
	}
	runs := sent(one, of("busy", "until test -e /written/end; do sleep 0.1; done; echo ended"))
	waits, asks := sent(two, of("waits", "echo waited # asked")), sent(one, of("asks", "echo asked # asked"))
	var pending []api.Entry
	awaittest.Until(t, "both to be asked, and one to run", func() bool {
		page, err := two.operator.Approvals(t.Context(), api.Query{State: bailiff.ApprovalPending})
		list, fault := one.operator.Sandboxes(t.Context())
		pending = page.Approvals
		runs := slices.ContainsFunc(list, func(s api.Sandbox) bool { return s.Users == 1 })
		return err == nil && fault == nil && len(pending) == 2 && runs
	})
	must(t, one.cmd.Process.Signal(syscall.SIGTERM))
	stopped := time.Now()
	mustComplete(t, two.agent, of("idle", "echo served"))
	t.Logf("served again %v after SIGTERM", time.Since(stopped))
	if a := <-asks; a.Status != bailiff.ApprovalRequired {
		t.Errorf("what waited at the sidecar that stops is answered %s, %s", a.Status, a.Message)
	}
	asks = sent(two, of("asks", "echo asked # asked"))
	for _, e := range pending {
		_, err := two.operator.Approve(t.Context(), e.ID, "")
		must(t, err)
	}
	if a := <-waits; a.Output != "waited\n" {
		t.Errorf("what waited behind it is answered %s, %s", a.Status, a.Message)
	}
	if a := <-asks; a.Output != "asked\n" {
		t.Errorf("sent again, it is answered %s, %s", a.Status, a.Message)
	}
	save(t, filepath.Join(written, "end"), "")
	if a := <-runs; a.Output != "ended\n" {
		t.Errorf("what ran ended as %s: %s", a.Status, a.Message)
	}
	must(t, one.cmd.Wait())
	mustComplete(t, two.agent, of("busy", "echo served"))
	t.Logf("all ended %v after SIGTERM", time.Since(stopped))
}

// noteClaims has the database note how many request ids are claimed whenever a sidecar gives a session away or leaves.
const noteClaims = `CREATE TABLE noted (claims bigint);
	CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN INSERT INTO public.noted SELECT count(*) FROM bailiff.requests; RETURN NULL; END $$;
	CREATE TRIGGER given AFTER UPDATE ON bailiff.homes FOR EACH ROW WHEN (NEW.given <> '') EXECUTE FUNCTION note();
	CREATE TRIGGER leaves AFTER UPDATE ON bailiff.replicas FOR EACH ROW WHEN (NEW.seen = '-infinity') EXECUTE FUNCTION note();`

// The id of a request that only waited for approvers is free before another sidecar may serve its session: else it would be
// answered there that its outcome is unknown.
func TestAnIDThatNeverRanIsFreeBeforeItsSessionIsAnothers(t *testing.T) {
	t.Parallel()
	for _, onStop := range []string{"hand_over", "remove"} {
		t.Run(onStop, func(t *testing.T) {
			t.Parallel()
			c := openDepot(t)
			c.server.Exec(t, "bailiff", noteClaims)
			one := launch(t, openDir(t), strings.Replace(c.asking(t, "one", openDir(t)), "store:\n", "store:\n  on_stop: "+onStop+"\n", 1))
			one.awaitServing(t)
			answer := make(chan api.Answer, 1)
			go func() {
				req := withID(inChat("s1", "true # asked"), "r1")
				req.WaitSeconds = 60
				a, err := one.agent.Execute(t.Context(), req, client.News{})
				if err != nil {
					t.Error(err)
				}
				answer <- a
			}()
			awaittest.Until(t, "it to be asked", func() bool {
				page, err := one.operator.Approvals(t.Context(), api.Query{State: bailiff.ApprovalPending})
				return err == nil && len(page.Approvals) == 1
			})
			one.stop(t)
			if a := <-answer; a.Status != bailiff.ApprovalRequired {
				t.Errorf("it is answered %s, %s", a.Status, a.Message)
			}
			noted, claimed := c.server.Number(t, "bailiff", "SELECT count(*) FROM noted"), c.server.Number(t, "bailiff",
				"SELECT count(*) FROM noted WHERE claims > 0")
			if noted == 0 || claimed > 0 {
				t.Errorf("in %d of %d steps by which others may serve the session, its request id was claimed", claimed, noted)
			}
		})
	}
}

// A session whose background process runs stays at the sidecar that stops until the process has ended, by itself or
// because it took too long. Then another serves the session, with the files of its project.
func TestASessionWhoseProcessRunsIsHandedOverOnceThatHasEnded(t *testing.T) {
	t.Parallel()
	c, written := openDepot(t), openDir(t)
	one, two := c.launchWith(t, "one", written), c.launchWith(t, "two", written)
	of := func(session string, req bailiff.Request) bailiff.Request {
		req.Session.ID, req.Session.UserID = session, session
		return req
	}
	starts := func(session, command string) {
		t.Helper()
		file := filepath.Join(written, session)
		save(t, file, "")
		must(t, os.Chmod(file, 0o666)) // sandboxes have users of their own
		mustComplete(t, one.agent, of(session, inBackground(session, command)))
		awaittest.Until(t, "the process of "+session+" to run", func() bool {
			said, err := os.ReadFile(file)
			return err == nil && string(said) == "begun\n"
		})
	}
	mustComplete(t, one.agent, of("idle", inChat("idle", "true")))
	starts("works", "echo begun >/written/works; until test -e /written/end; do sleep 0.1; done; echo ended >/written/works")
	starts("stays", "exec 9>/written/stays; flock 9; echo begun >&9; exec sleep 600")
	answers := map[string]chan api.Answer{"works": make(chan api.Answer, 1), "stays": make(chan api.Answer, 1)}
	must(t, one.cmd.Process.Signal(syscall.SIGTERM))
	stopped := time.Now()
	mustComplete(t, two.agent, of("idle", inChat("idle", "true")))
	t.Logf("the idle session was served again %v after SIGTERM", time.Since(stopped))
	const kept = "SELECT count(*) FROM bailiff.homes WHERE replica = 'one' AND given = ''"
	if n := c.server.Number(t, "bailiff", kept); n != 4 {
		t.Errorf("the sidecar that stops keeps %d homes, want those of two sessions and their users", n)
	}
	for session, command := range map[string]string{"works": "cat /written/works", "stays": "flock -n /written/stays echo free"} {
		go func() {
			a, err := two.agent.Execute(t.Context(), of(session, inChat(session, command)), client.News{})
			if err != nil {
				t.Error(err)
			}
			answers[session] <- a
		}()
	}
	save(t, filepath.Join(written, "end"), "")
	if a := <-answers["works"]; a.Output != "ended\n" {
		t.Errorf("the session whose process ended by itself is answered %s, %s, printed %q", a.Status, a.Message, a.Output)
	}
	t.Logf("the session whose process ended by itself was served again %v after SIGTERM", time.Since(stopped))
	if a := <-answers["stays"]; a.Output != "free\n" {
		t.Errorf("the session whose process was ended is answered %s, %s, printed %q", a.Status, a.Message, a.Output)
	}
	t.Logf("the session whose process was ended was served again %v after SIGTERM", time.Since(stopped))
	must(t, one.cmd.Wait())
	if a := mustComplete(t, two.agent, of("works", inChat("works", "ls /workspace; cat /written/works"))); a.Output != "ended\n" {
		t.Errorf("afterwards it printed %q", a.Output)
	}
}
