package vercel

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

// leaseOfTest is long enough for a busy machine, and soon put off.
const leaseOfTest = 20 * time.Second

func awaitCall(t testing.TB, f *fake, call string) {
	t.Helper()
	backendtest.Await(t, call+" is asked", func() bool { return f.count(call) > 0 })
}

func testSpec() backends.Spec {
	return backends.Spec{Owner: "me", Session: "agent:main:telegram:dm:42", Network: "none"}
}

func open(t *testing.T, b *Backend, spec backends.Spec) *sandbox {
	t.Helper()
	return backendtest.Open(t, b, spec).(*sandbox)
}

func TestASpecIsMetOrRefusedByName(t *testing.T) {
	b := account(t, newFake(t))
	lax := account(t, newFake(t))
	lax.cfg.AcceptMissing = acceptable
	for _, c := range []struct {
		name   string
		change func(*backends.Spec)
		lacks  string // empty if it is met
		lax    bool   // it is met where the limit may be missing
	}{
		{"nothing asked for", func(*backends.Spec) {}, "", true},
		{"a network", func(s *backends.Spec) { s.Network = "full" }, "", true},
		{"a network of its own kind", func(s *backends.Spec) { s.Network = "egress" }, "network", false},
		{"a mount", func(s *backends.Spec) { s.Mounts = []bailiff.Mount{{Source: "/srv", Target: "/srv"}} }, "mounts", false},
		{"half a processor", func(s *backends.Spec) { s.CPUs = 0.5 }, "cpus", true},
		{"a processor", func(s *backends.Spec) { s.CPUs = 1 }, "", true},
		{"little memory", func(s *backends.Spec) { s.MemoryMB = 512 }, "memory_mb", true},
		{"some memory", func(s *backends.Spec) { s.MemoryMB = 5120 }, "", true},
		{"a small disk", func(s *backends.Spec) { s.DiskMB = 10240 }, "disk_mb", true},
		{"a large disk", func(s *backends.Spec) { s.DiskMB = 32768 }, "", true},
		{"no room for a workspace", func(s *backends.Spec) { s.DiskMB, s.Workspace = 32768, "w" }, "disk_mb", true},
		{"few processes", func(s *backends.Spec) { s.PIDs = 10 }, "pids", false},
		{"processes", func(s *backends.Spec) { s.PIDs = 256 }, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := testSpec()
			c.change(&spec)
			if err := b.check(spec); (err == nil) != (c.lacks == "") || err != nil && (!errors.Is(err, backends.ErrUnsupported) ||
				!strings.Contains(err.Error(), c.lacks)) {
				t.Errorf("it is refused with %v, want %q to be named", err, c.lacks)
			}
			if err := lax.check(spec); (err == nil) != c.lax {
				t.Errorf("where limits may be missing it is refused with %v", err)
			}
		})
	}
}

func TestAMachineIsTheLargestWithinTheSpec(t *testing.T) {
	for _, c := range []struct {
		cpus   float64
		memory int
		want   int
	}{{0, 0, 2}, {1, 0, 1}, {1.9, 0, 1}, {2, 0, 2}, {3.5, 0, 2}, {7, 0, 6}, {100, 0, 32}, {0, 2048, 1}, {0, 5120, 2}, {8, 4096, 2},
		{1, 65536, 1}, {0.5, 100, 1}} {
		if got := processors(backends.Spec{CPUs: c.cpus, MemoryMB: c.memory}); got != c.want {
			t.Errorf("for %v processors and %d MB the machine has %d processors, want %d", c.cpus, c.memory, got, c.want)
		}
	}
}

func TestAMachineSaysWhoseItIsAndTellsOfNobody(t *testing.T) {
	f := newFake(t)
	b := account(t, f)
	spec := testSpec()
	spec.Workspace, spec.Expires = "w", time.Now().Add(10*time.Minute)
	s := open(t, b, spec)
	body := f.bodies["POST /v3/sandboxes"][0]
	tags := body["tags"].(map[string]any)
	if len(tags) != 5 || tags["bailiff"] != "sandbox" || tags["owner"] != backends.Digest("me") ||
		tags["workspace"] != backends.Digest("w") || tags["expires"] == "" {
		t.Errorf("its tags are %v", tags)
	}
	text, err := json.Marshal(f.bodies)
	if err != nil || strings.Contains(string(text), "telegram") {
		t.Errorf("it tells of the session, %v: %s", err, text)
	}
	if life := body["timeout"].(float64); life != float64(b.lease.Milliseconds()) || body["persistent"] != false {
		t.Errorf("it lives for %v ms and is persistent: %v", life, body["persistent"])
	}
	if !strings.HasPrefix(s.ID(), "bailiff-"+backends.Digest("me")[:11]+"-") {
		t.Errorf("its name is %s", s.ID())
	}
}

func TestNoVariableOfTheMachineNorOfOursIsThereThatWasNotGiven(t *testing.T) {
	f := newFake(t)
	s := open(t, account(t, f), testSpec())
	cmd := runner.Shell("echo $GIVEN; env | cut -d= -f1 | sort | tr '\n' ' '")
	cmd.HeadBytes, cmd.Timeout, cmd.Env = 1<<20, time.Minute, map[string]bailiff.Secret{"GIVEN": bailiff.NewSecret("the-value-of-it")}
	var out strings.Builder
	if _, err := s.Run(t.Context(), cmd, func(p []byte) { out.Write(p) }); err != nil {
		t.Fatal(err)
	}
	if want := "the-value-of-it\nGIVEN HOME LANG PATH PWD SHELL SHLVL TERM _ "; out.String() != want {
		t.Errorf("it has %q, want %q", out.String(), want)
	}
	text, err := json.Marshal(f.bodies)
	if err != nil || strings.Contains(string(text), "the-value-of-it") {
		t.Errorf("Vercel was told the value, %v", err)
	}
}

func TestAnEndIsPutOffWhileTheSandboxStandsAndNotBeyondItsTime(t *testing.T) {
	f := newFake(t)
	b := account(t, f)
	b.lease = 10 * time.Second
	spec := testSpec()
	spec.Expires = time.Now().Add(25 * time.Second)
	s := open(t, b, spec)
	awaitCall(t, f, "/extend-timeout")
	backendtest.Says(t, s, "echo fine", "fine\n")
	select {
	case <-s.Done(): // its stream ends with the machine
	case <-backendtest.Late(t):
		t.Fatal("it goes on beyond its time")
	}
	if late := time.Since(spec.Expires); late < -5*time.Second {
		t.Errorf("it ended %v before its time", -late)
	}
	sum := 0.0
	for _, body := range f.bodies["POST /v2/sandboxes/sessions/{session}/extend-timeout"] {
		sum += body["duration"].(float64)
	}
	if most := float64((25*time.Second - b.lease).Milliseconds()); sum > most {
		t.Errorf("its end was put off by %v ms, want at most %v", sum, most)
	}
	backendtest.Await(t, "it is removed by itself", func() bool { return len(f.names("")) == 0 })
}

func TestAMachineThatNobodyHoldsEndsByItself(t *testing.T) {
	f := newFake(t)
	b := account(t, f)
	b.lease = 8 * time.Second
	s := open(t, b, testSpec())
	f.inject("/extend-timeout", 1000, answering(http.StatusBadRequest)) // as if nobody asked
	f.inject("DELETE", 1, answering(http.StatusBadRequest))
	<-s.Done()
	backendtest.Await(t, "the machine has stopped", func() bool { return len(f.names("running")) == 0 })
	awaitCall(t, f, "DELETE") // which fails; closing the sandbox tries again
	if err := s.Close(t.Context()); err != nil || len(f.names("")) > 0 {
		t.Errorf("closing it came to %v, and %q is left", err, f.names(""))
	}
}

func TestASweepRemovesWhatIsTheOwnersAndNobodyKeeps(t *testing.T) {
	f := newFake(t)
	b, other := account(t, f), testSpec()
	other.Owner = "somebody else"
	kept, gone, theirs := open(t, b, testSpec()), open(t, b, testSpec()), open(t, b, other)
	if n, err := b.Sweep(t.Context(), "me", func(id string) bool { return id == kept.ID() }); n != 1 || err != nil {
		t.Errorf("%d machines were swept, %v; want 1", n, err)
	}
	want := []string{kept.ID(), theirs.ID()}
	slices.Sort(want)
	if left := f.names(""); !slices.Equal(left, want) {
		t.Errorf("there are %q, want %q", left, want)
	}
	<-gone.Done()
	backendtest.Says(t, kept, "echo fine", "fine\n")
}

func TestASweepSparesWhatIsBeingOpenedAndReadsAllPages(t *testing.T) {
	f := newFake(t)
	b := account(t, f)
	f.mu.Lock()
	for range mostListed + 3 {
		name, done := b.opening.Name(ofOwner("me"))
		done()
		l := &lent{fake: f, wanted: wanted{Name: name, Resources: resources{1}}, id: f.number("sbx"), status: "stopped",
			ended: make(chan struct{})}
		close(l.ended)
		f.sandboxes[name] = l
	}
	trial := &lent{fake: f, wanted: wanted{Name: trials + "x"}, status: "stopped", ended: make(chan struct{})}
	close(trial.ended)
	f.sandboxes[trials+"x"] = trial
	f.mu.Unlock()
	hold := make(chan struct{})
	f.inject("/fs/write", 1, func(http.ResponseWriter, *http.Request) bool { <-hold; return true })
	opened := make(chan error, 1)
	go func() {
		s, err := b.Open(context.Background(), testSpec())
		if err == nil {
			err = s.Close(context.Background())
		}
		opened <- err
	}()
	awaitCall(t, f, "/fs/write")
	if n, err := b.Sweep(t.Context(), "me", func(string) bool { return false }); n != mostListed+3 || err != nil {
		t.Errorf("%d machines were swept, %v; want %d", n, err, mostListed+3)
	}
	if left := f.names(""); len(left) != 1 {
		t.Errorf("there are %q, want the one that is being opened", left)
	}
	close(hold)
	if err := <-opened; err != nil {
		t.Errorf("opening it came to %v", err)
	}
}

func TestImagesAreNamedByTheirDigest(t *testing.T) {
	f := newFake(t)
	b := account(t, f)
	if image, err := b.Resolve(t.Context(), ""); err != nil || image != fakeImage+fakeDigest {
		t.Errorf("the image is %q, %v", image, err)
	}
	if n := f.count("POST /v3/sandboxes"); n != 1 || len(f.names("")) != 0 {
		t.Errorf("%d machines were made to ask once, and %q are left", n, f.names(""))
	}
	spec := testSpec()
	spec.Image = fakeImage + fakeDigest
	open(t, b, spec)
	if image, err := b.Resolve(t.Context(), spec.Image); err != nil || image != spec.Image {
		t.Errorf("a pinned image is %q, %v", image, err)
	}
	if err := sameImage(spec.Image, fakeImage+"@sha256:other"); !errors.Is(err, backends.ErrUnsupported) {
		t.Errorf("another image is taken, with %v", err)
	}
}

func TestAWorkspaceIsOneMachinesAtATime(t *testing.T) {
	f := newFake(t)
	b := account(t, f)
	b.patience = 50 * time.Millisecond
	spec := testSpec()
	spec.Workspace = "w"
	first := open(t, b, spec)
	backendtest.Output(t, first, "echo kept >file")
	if _, err := b.Open(t.Context(), spec); !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), first.ID()) {
		t.Errorf("a second machine came to %v", err)
	}
	b.patience = time.Minute
	time.AfterFunc(time.Second, func() { _ = first.Close(context.Background()) })
	backendtest.Says(t, open(t, b, spec), "cat file", "kept\n")
}

func TestNamesOfWorkspacesComeBackFromDrives(t *testing.T) {
	for _, workspace := range []string{"w", "0123456789abcdef0123456789abcdef", "abcdefghijklmnopqrstuvwxyz", "../w/8-other", "Ä ö", "e",
		"P"} {
		name, err := driveName("me", workspace)
		if err != nil || !id.MatchString(name) || len(name) > 64 {
			t.Errorf("the drive of %q is %q, %v", workspace, name, err)
		}
		if back, ok := workspaceOf("me", name); !ok || back != workspace {
			t.Errorf("the drive of %q is one of %q", workspace, back)
		}
		if _, ok := workspaceOf("somebody else", name); ok {
			t.Errorf("the drive of %q is another owner's too", workspace)
		}
	}
	if _, err := driveName("me", strings.Repeat("x", 100)); !errors.Is(err, backends.ErrUnsupported) {
		t.Errorf("a name that is too long came to %v", err)
	}
}

func TestReadinessSaysWhatToSet(t *testing.T) {
	f := newFake(t)
	t.Setenv("ANOTHER_TOKEN", "token-of-another-team")
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"well", func(*Config) {}, ""},
		{"no token", func(c *Config) { c.Token = settings.Credential{Env: "NO_SUCH_TOKEN"} },
			"backends.vercel.token: reading a credential: variable NO_SUCH_TOKEN is empty"},
		{"another token", func(c *Config) { c.Token = settings.Credential{Env: "ANOTHER_TOKEN"} },
			"the token that backends.vercel.token names must be one for the team"},
		{"another team", func(c *Config) { c.Team = "team_2" }, "backends.vercel.team"},
		{"another project", func(c *Config) { c.Project = "prj_2" }, "backends.vercel.project"},
		{"nobody there", func(c *Config) { c.Endpoint = "http://127.0.0.1:1" }, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := account(t, f, c.change).Ready(t.Context())
			backendtest.Fault(t, err, backends.ErrUnavailable, c.want)
			if err != nil && strings.Contains(err.Error(), fakeToken) {
				t.Error("it tells the token")
			}
		})
	}
	b := account(t, f)
	b.cfg.Runner = "/no/runner"
	if err := b.Ready(t.Context()); !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), "finding the runner") {
		t.Errorf("without a runner it says %v", err)
	}
}

func TestSettingsWantWhatVercelTakes(t *testing.T) {
	cfg := Defaults()
	if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), "team and project") {
		t.Errorf("without a team and a project it says %v", err)
	}
	for text, good := range map[string]bool{"team_1": true, "iad1": true, "": false, "a b": false, "../x": false} {
		if err := isID(text); (err == nil) != good {
			t.Errorf("the id %q came to %v", text, err)
		}
	}
	var keys []string
	for _, s := range cfg.Settings() {
		keys = append(keys, s.Key)
		if s.Key == "endpoint" && (s.Check("https://vercel.com/api") != nil || s.Check("http://vercel.com/api") == nil) {
			t.Error("it takes another endpoint than one that nobody on the way can listen to")
		}
	}
	if want := []string{"token", "team", "project", "region", "image", "endpoint", "accept_missing_limits"}; !slices.Equal(keys, want) {
		t.Errorf("the keys are %q", keys)
	}
}

// TestLive runs the suite against Vercel itself, where somebody pays for it.
func TestLive(t *testing.T) {
	team, project := os.Getenv("BAILIFF_VERCEL_TEAM"), os.Getenv("BAILIFF_VERCEL_PROJECT")
	if os.Getenv("VERCEL_TOKEN") == "" || team == "" || project == "" {
		t.Skip("LEFT OUT WITHOUT AN ACCOUNT: set VERCEL_TOKEN, BAILIFF_VERCEL_TEAM and BAILIFF_VERCEL_PROJECT")
	}
	cfg := Defaults()
	cfg.Team, cfg.Project = team, project
	owner := "live " + filepath.Base(t.TempDir()) + time.Now().String()
	backendtest.Run(t, backendtest.Config{
		Open: func(t testing.TB) backends.Backend { return makeOf(t, cfg) },
		Spec: backends.Spec{Owner: owner, Session: "live", Network: "none", PIDs: 800, ReadOnly: true}, Remote: true,
		NoOutlet: noOutlet,
		Break: func(t testing.TB, s backends.Sandbox) {
			backendtest.NoError(t, makeOf(t, cfg).api.remove(context.Background(), s.ID()))
		},
	})
	if _, err := makeOf(t, cfg).Sweep(context.Background(), owner, func(string) bool { return false }); err != nil {
		t.Error(err)
	}
}
