package app

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/config"
)

func TestAReadAgainConfigurationChangesWhomAListenerSpeaksFor(t *testing.T) {
	t.Parallel()
	s := startSidecar(t, "backends: {bubblewrap: {}, local: {}}")
	long := make(chan api.Answer, 1)
	started := make(chan struct{})
	go func() {
		a, err := s.client(t).Execute(t.Context(), inChat("long", "echo started; sleep 1; echo done"), client.News{Output: func([]byte) {
			select {
			case <-started:
			default:
				close(started)
			}
		}})
		if err != nil {
			t.Error(err)
		}
		long <- a
	}()
	<-started

	next := *s.cfg
	next.Agent.Listeners = slices.Clone(next.Agent.Listeners)
	next.Agent.Listeners[0].Platforms = []string{"discord"}
	next.StateDir = "/elsewhere"
	waiting, err := s.reload(t.Context(), &next)
	if err != nil || !slices.Equal(waiting, []string{"state_dir"}) {
		t.Errorf("waiting for a restart are %v, %v", waiting, err)
	}
	_, err = s.client(t).Execute(t.Context(), inChat("s1", "true"), client.News{})
	var refused *api.Problem
	if !errors.As(err, &refused) || refused.Code != "platform_not_allowed" {
		t.Errorf("a platform that was taken away is answered %v", err)
	}
	if a := <-long; a.Status != bailiff.Completed || a.Output != "started\ndone\n" {
		t.Errorf("the request that ran meanwhile was answered %+v", a)
	}
}

func TestATokenIsRotatedWithoutARestart(t *testing.T) {
	t.Parallel()
	folder := openDir(t)
	token := filepath.Join(folder, "token")
	write := func(text string) {
		must(t, os.WriteFile(token, []byte(text), 0o600))
	}
	write("first-token-0123456789\n")
	s := startSidecar(t, "backends: {bubblewrap: {}}")
	next := *s.cfg
	next.Agent.Listeners = []config.Listener{{Name: "tcp", Listen: config.Address{Network: "tcp", Address: "127.0.0.1:0"},
		TokenFile: token}}
	put := func() {
		if _, err := s.reload(t.Context(), &next); err != nil {
			t.Fatal(err)
		}
	}
	try := func(secret string) error {
		c, err := client.New(s.agents[0].Address(), bailiff.NewSecret(secret))
		must(t, err)
		_, err = c.Execute(t.Context(), inChat("s1", "true"), client.News{})
		return err
	}
	put()
	if err := try("first-token-0123456789"); err != nil {
		t.Errorf("the first token: %v", err)
	}
	write("second-token-0123456789\n")
	put()
	if try("first-token-0123456789") == nil || try("second-token-0123456789") != nil {
		t.Error("the token was not rotated")
	}
	must(t, os.Chmod(token, 0o644))
	if _, err := s.reload(t.Context(), &next); err == nil || !strings.Contains(err.Error(), "others may use "+token+" (mode 0644)") {
		t.Errorf("of a token that everybody may read it says %v", err)
	}
}

func TestTheMetricsShowWhenTheListenersOfTheMomentLastBroughtARequest(t *testing.T) {
	t.Parallel()
	s := startSidecar(t, "backends: {bubblewrap: {}, local: {}}")
	shown := func() []string {
		page := httptest.NewRecorder()
		s.page.ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
		return regexp.MustCompile(`bailiff_listener_last_decision_timestamp_seconds\{[^}]*\}`).FindAllString(page.Body.String(), -1)
	}
	name := s.cfg.Agent.Listeners[0].Name
	if _, err := s.client(t).Execute(t.Context(), inChat("s1", "true"), client.News{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{fmt.Sprintf("bailiff_listener_last_decision_timestamp_seconds{listener=%q}", name)}; !slices.Equal(shown(), want) {
		t.Errorf("shown are %v, want %v", shown(), want)
	}
	next := *s.cfg
	next.Agent.Listeners = slices.Clone(next.Agent.Listeners)
	next.Agent.Listeners[0].Name = "another"
	if _, err := s.reload(t.Context(), &next); err != nil || len(shown()) > 0 {
		t.Errorf("of a listener that is gone is shown %v, %v", shown(), err)
	}
}

// BenchmarkReload times the way from a saved policy to its first decision, and
// the policies' own tests by themselves, which are part of it.
func BenchmarkReload(b *testing.B) {
	folder := policyFolder(b)
	s := startSidecar(b, "backends: {bubblewrap: {}}", "policies: {paths: ["+folder+"]}")
	generation := 1
	var times []time.Duration
	for b.Loop() {
		generation++
		began := time.Now()
		save(b, filepath.Join(folder, "house.rego"), rulesOf(generation))
		awaitGeneration(b, s, generation)
		times = append(times, time.Since(began))
	}
	b.ReportMetric(float64(median(times).Milliseconds()), "in-force-ms")
}

func TestTheBoundOnSandboxesChangesWithoutARestart(t *testing.T) {
	t.Parallel()
	s := startSidecar(t, "backends: {bubblewrap: {}}")
	for _, c := range []struct {
		most int
		want bailiff.Status
	}{{1, bailiff.Unavailable}, {2, bailiff.Completed}} {
		next := *s.cfg
		next.Limits.Sandboxes.Caller = c.most
		if _, err := s.reload(t.Context(), &next); err != nil {
			t.Fatal(err)
		}
		for i, want := range []bailiff.Status{bailiff.Completed, c.want} {
			a, err := s.client(t).Execute(t.Context(), inChat(fmt.Sprint("s", i), "true"), client.News{})
			if err != nil || a.Status != want {
				t.Errorf("with a bound of %d session %d was answered %+v, %v, want %s", c.most, i, a, err, want)
			}
		}
	}
}

func TestAReadAgainConfigurationPlansWhatIsPendingAnew(t *testing.T) {
	t.Parallel()
	s := startOffice(t, openDir(t), onePerson(t, "backends: {bubblewrap: {}}"))
	asked, err := s.approvals.Ask(t.Context(), bailiff.Claim{
		Request: bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "rm -r build"}, Caller: "test",
			Session: bailiff.Session{ID: "s1", Platform: "telegram", UserID: "42"}},
		Decision: bailiff.Decision{Outcome: bailiff.Ask, Approval: &bailiff.ApprovalTerms{
			Scopes: []string{bailiff.ScopeOnce}, Quorum: 1, Reasons: []bailiff.Reason{{Rule: "command.deletes", Message: "deletes"}},
		}},
	})
	if err != nil || asked.State != bailiff.ApprovalPending {
		t.Fatalf("asked: %+v, %v", asked, err)
	}
	for _, c := range []struct {
		route config.Route
		state bailiff.ApprovalState
	}{
		{config.Route{Name: "owners", Channels: []string{"operator"}}, bailiff.ApprovalPending},
		{config.Route{Name: "elsewhere", Approvers: `approver.name == "dora"`, Channels: []string{"operator"}}, bailiff.ApprovalExpired},
	} {
		next := *s.cfg
		next.Approvals.Routes = []config.Route{c.route}
		if _, err := s.reload(t.Context(), &next); err != nil {
			t.Fatal(err)
		}
		if e, _ := s.approvals.Get(asked.ID); e.State != c.state || e.Plan.Route != "owners" {
			t.Errorf("by route %s it is %s by %s: %s", c.route.Name, e.State, e.Plan.Route, e.Message)
		}
	}
}

func TestAReadAgainConfigurationChangesWhichFoldersSandboxesMayShow(t *testing.T) {
	t.Parallel()
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s, dir := startProject(t, backend, section)
			work := inProject(dir, "cat .envrc")
			allow := func(folders ...string) {
				t.Helper()
				next := *s.cfg
				next.Backends = maps.Clone(next.Backends)
				next.Backends[backend] = cloneSection(next.Backends[backend])
				allowed, _ := backends.ListOf(next.Backends[backend], backends.MountsAllowed)
				*allowed = folders
				if waiting, err := s.reload(t.Context(), &next); err != nil || len(waiting) > 0 {
					t.Fatalf("for a restart wait %v, %v", waiting, err)
				}
			}
			allow()
			work.Session.ID = "before"
			if a := ask(t, s.agent, work); a.Status != bailiff.Unavailable || !strings.Contains(a.Message, "lies in none of the folders") {
				t.Errorf("of a folder that sandboxes may not show it says %s %q", a.Status, a.Message)
			}
			allow(openDir(t), dir)
			work.Session.ID = "after"
			if a := ask(t, s.agent, work); a.Status != bailiff.Completed || a.Output != "a\n" {
				t.Errorf("of a folder that they may show it says %s %q %q", a.Status, a.Message, a.Output)
			}
			next := *s.cfg
			next.Backends = maps.Clone(next.Backends)
			delete(next.Backends, backend)
			if waiting, err := s.reload(t.Context(), &next); err != nil || !slices.Equal(waiting, []string{"backends"}) {
				t.Errorf("with a backend less for a restart wait %v, %v", waiting, err)
			}
		})
	}
}

// cloneSection is a section of its own with the same values.
func cloneSection(section backends.Maker) backends.Maker {
	from := reflect.ValueOf(section).Elem()
	into := reflect.New(from.Type())
	into.Elem().Set(from)
	return into.Interface().(backends.Maker)
}

func TestAListenerThatIsReadAgainAsItWasKeepsItsConnections(t *testing.T) {
	t.Parallel()
	s := startSidecar(t, "backends: {local: {}}")
	before := s.agents[0]
	next := *s.cfg
	reread := func() {
		t.Helper()
		if _, err := s.reload(t.Context(), &next); err != nil {
			t.Fatal(err)
		}
	}
	reread()
	if s.agents[0] != before {
		t.Error("a listener that did not change was opened anew")
	}
	next.Agent.Listeners = append(slices.Clone(next.Agent.Listeners), config.Listener{Name: "more",
		Listen: config.Address{Network: "unix", Address: filepath.Join(openDir(t), "b.sock")}})
	reread()
	if len(s.agents) != 2 || s.agents[0] != before {
		t.Errorf("with one more there are %d listeners", len(s.agents))
	}
	path := next.Agent.Listeners[0].Listen.Address
	for what, change := range map[string]func(){
		"without its socket":    func() { must(t, os.Remove(path)) },
		"with another's socket": func() { must(t, os.Remove(path)); leaveSocket(t, path) },
	} {
		before := s.agents[0]
		change()
		reread()
		if s.agents[0] == before {
			t.Errorf("a listener %s was kept", what)
		}
	}
	if _, err := s.client(t).Execute(t.Context(), inChat("s1", "true"), client.News{}); err != nil {
		t.Error(err)
	}
}

// leaveSocket leaves the socket of a process that is gone.
func leaveSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	must(t, l.Close())
}
