package chat

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// remoteSidecar is a sidecar in a process of its own.
type remoteSidecar struct{ *client.Client }

func (a remoteSidecar) Execute(ctx context.Context, req bailiff.Request, news gateway.News) (api.Answer, error) {
	return a.Client.Execute(context.WithoutCancel(ctx), req, client.News{Approval: news.Approval, Step: news.Step, Stop: ctx.Done()})
}

func (a remoteSidecar) EndSession(ctx context.Context, session string) (bailiff.Ended, error) {
	ended, err := a.Client.EndSession(ctx, session)
	return bailiff.Ended{Sandboxes: ended.Removed, Processes: ended.Processes}, err
}

const houseRules = apptest.AskedAbout + `
deny contains {"rule": "house.denies", "message": "It is never done here."} if contains(input.args.command, "never-done")
`

// before has ana and ben speak with a real sidecar.
func before(t *testing.T, s *apptest.Sidecar) *sessionsTest {
	t.Helper()
	k := newSessionsTest(t, &fakeSidecar{}, func(c *SessionsConfig) { c.Sidecar, c.Env = remoteSidecar{s.Client(t)}, nil })
	return k
}

// gets has ana write at a place, and waits for an answer that is like a pattern.
func (k *sessionsTest) gets(at Place, text, pattern string) {
	k.t.Helper()
	n := len(k.surface.at(at))
	kind := "dm"
	if at.Thread != "" {
		kind = "thread"
	}
	k.says(ana, kind, at, text, true)
	k.showsLike(at, n, pattern)
}

// showsLike waits until the nth message at a place is like a pattern.
func (k *sessionsTest) showsLike(at Place, n int, pattern string) {
	k.t.Helper()
	like := regexp.MustCompile("(?s)^(?:`[^`]*`\n)?" + pattern + "$") // what took long repeats the command
	var got string
	defer func() {
		if k.t.Failed() {
			k.t.Logf("at %v is shown %q, want %s", at, got, pattern)
		}
	}()
	backendtest.Await(k.t, "an answer like "+pattern+" is shown", func() bool {
		all := k.surface.at(at)
		got = strings.Join(all[min(n, len(all)):], "\n--\n")
		return len(all) > n && like.MatchString(all[n])
	})
}

func TestSessionsRunInSandboxesOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := apptest.Serve(t, apptest.WithRules(t, houseRules))
	k := before(t, s)
	mark := apptest.Mark(t)
	k.gets(dm, "touch "+mark+"; echo kept > f; hostname", "```sandbox```")
	k.gets(dm, "cat f; exit 3", "```kept```.Exit status 3. .")
	k.gets(thread, "cat f", "```cat: .*No such file or directory```.Exit status 1. .")
	k.gets(dm, "```python\nprint(open('f').read(), 6*7)\n```", "```kept\n 42```")
	k.gets(dm, "```sh\nfor i in 1 2; do\n echo $i\ndone\n```", "```1\n2```")
	k.gets(dm, "seq 1000", "```1\n.*12```… 976 lines left out here, see output.txt …```989\n.*1000```")
	k.gets(dm, "never-done", `.Not run. .Denied: It is never done here \(house.denies\)\.`)
	k.gets(dm, "true", "It printed nothing.")
	if got := k.answer("dm", dm, "/new"); !strings.HasPrefix(got, "Removed 1 sandbox") {
		t.Errorf("a new session says %q", got)
	}
	k.gets(dm, "cat f", "```cat: .*No such file or directory```.Exit status 1. .")
	apptest.WantNoMark(t, mark)
}

func TestSecretsReachNeitherAMessageNorItsFile(t *testing.T) {
	t.Parallel()
	const value = "canary-value-of-a-token"
	variables := filepath.Join(apptest.OpenDir(t), "variables")
	if err := os.WriteFile(variables, []byte("DEMO_TOKEN="+value+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := apptest.Serve(t, "env: {sources: [\"file:"+variables+"\"]}",
		apptest.WithRules(t, "", "    env:\n", "    env:\n      DEMO_TOKEN:\n        - {platforms: [slack]}\n"))
	k := before(t, s)
	k.config.Env = []string{"DEMO_TOKEN"}
	k.gets(dm, "echo $DEMO_TOKEN", "```.DEMO_TOKEN redacted.```")
	k.gets(dm, "seq 100; echo $DEMO_TOKEN; seq 100; echo ${#DEMO_TOKEN}", "```.*see output.txt.*```")
	shown := fmt.Sprint(k.surface.at(dm))
	k.surface.mu.Lock()
	defer k.surface.mu.Unlock()
	if whole := string(k.surface.all[1].File.Content); strings.Contains(shown+whole, value) ||
		!strings.Contains(whole, "[DEMO_TOKEN redacted]") || !strings.Contains(whole, fmt.Sprint("\n", len(value), "\n")) {
		t.Errorf("the file holds %q", whole)
	}
}

func TestWhatIsAskedAboutWaitsInItsThread(t *testing.T) {
	t.Parallel()
	s := apptest.Serve(t, apptest.WithRules(t, houseRules))
	k := before(t, s)
	operators := s.Operators(t)
	const waits = ".Waiting for approval.. Approval `[^`]+`: Waiting for .+ until .+"

	k.gets(thread, "echo asked-about", waits)
	id := s.Pending(t)
	if _, err := operators.Approve(t.Context(), id, bailiff.ScopeOnce); err != nil {
		t.Fatal(err)
	}
	k.showsLike(thread, 0, fmt.Sprintf(".Approved.. Approval `%s`: .*ana.*", id))
	k.showsLike(thread, 1, "`echo asked-about`\n```asked-about```")

	k.gets(thread, "echo asked-about again", waits)
	id = s.Pending(t)
	if _, err := operators.Deny(t.Context(), id, "not on Fridays"); err != nil {
		t.Fatal(err)
	}
	k.showsLike(thread, 2, fmt.Sprintf(".Denied.. Approval `%s`: .*not on Fridays.*", id))
	k.showsLike(thread, 3, "`echo asked-about again`\n.Not run. .*not on Fridays.*")

	k.gets(thread, "echo asked-about more", waits)
	if got := k.answer("thread", thread, "/stop"); got != "Stopped `echo asked-about more`." {
		t.Errorf("it says %q", got)
	}
	k.showsLike(thread, 4, ".Waits no longer.. Approval `[^`]+`: Stopped by Ana.")
	k.showsLike(thread, 5, "`echo asked-about more`\n.Stopped by Ana..")
}

func TestAStoppedCommandIsGoneFromItsSandbox(t *testing.T) {
	t.Parallel()
	k := before(t, apptest.Serve(t, apptest.WithRules(t, houseRules)))
	k.direct("echo begun; sleep 600 & echo $! > pid; wait")
	backendtest.Await(t, "it has begun", func() bool {
		return strings.Contains(k.answer("dm", dm, "/status"), "is under way")
	})
	k.gets(Place{Chat: "D2"}, "true", "It printed nothing.") // by then it has a sandbox, or is stopped before
	if got := k.answer("dm", dm, "/stop"); !strings.HasPrefix(got, "Stopped `echo begun") {
		t.Errorf("it says %q", got)
	}
	k.showsLike(dm, 0, "(```begun```)?.Stopped by Ana..")
	k.gets(dm, "if [ -s pid ] && kill -0 $(cat pid); then echo alive; else echo gone; fi", ".*gone```")
}
