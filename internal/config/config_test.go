package config

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/bubblewrap"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/backends/docker"
	"github.com/bailiff-dev/bailiff/backends/local"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/judging/guard"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/syslog"
)

func TestEveryMistakeIsNamedWithItsLine(t *testing.T) {
	t.Setenv("HOME", "/home/ana")
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("found %d bad configurations, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			must(t, err)
			first, _, _ := strings.Cut(string(text), "\n")
			_, err = parse("bailiff.yaml", string(text))
			want := "bailiff.yaml:" + strings.TrimPrefix(first, "# want ")
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestAllMistakesAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := parse("bailiff.yaml", "log: {level: loud}\npolicies: {eval_timeout: 0s}\nfoo: 1\n")
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 3 {
		t.Fatalf("got %v, want three faults", err)
	}
	for i, key := range []string{"log.level", "policies.eval_timeout", "foo"} {
		if faults[i].Line != i+1 || faults[i].Key != key {
			t.Errorf("fault %d is %v, want %s in line %d", i, faults[i], key, i+1)
		}
	}
}

func TestAGoodConfigurationIsReadWhole(t *testing.T) {
	t.Setenv("HOME", "/home/ana")
	text, err := os.ReadFile("testdata/good.yaml")
	must(t, err)
	got, err := parse("/etc/bailiff/bailiff.yaml", string(text))
	must(t, err)
	engine := docker.Defaults()
	engine.Image, engine.User, engine.AcceptMissing, engine.MountsAllowed = "python:3.12", "1000:1000", []string{"disk_mb"},
		[]string{"/srv/data"}
	engine.Runtime, engine.RuntimesAllowed = "runsc", []string{"kata", "io.containerd.runc.v2"}
	want := &Config{
		Path:     "/etc/bailiff/bailiff.yaml",
		StateDir: "/var/lib/bailiff",
		Agent: Agent{
			Listeners: []Listener{
				{Name: "hermes", Listen: Address{"unix", "/run/bailiff/agent.sock"}, UIDs: []uint32{1001},
					Platforms: []string{"telegram", "discord"}},
				{Name: "remote", Listen: Address{"tcp", "127.0.0.1:8640"}, TokenFile: "/etc/bailiff/token"},
				{
					Name: "tools", Listen: Address{"tcp", "127.0.0.1:8641"}, TokenFile: "/etc/bailiff/token", Platforms: []string{"cli"},
					MCP: &MCP{Session: bailiff.Session{ID: "s", Platform: "cli", ChatType: "dm", ChatID: "c", ThreadID: "t",
						UserID: "1000", Unattended: true},
						Env: []string{"GITHUB_TOKEN"}, WaitSeconds: 100},
				},
			},
			DataPaths: []string{"bailiff/decision", "agent/call/decision"},
		},
		Operator: Operator{Listen: Address{"unix", "/run/bailiff/operator.sock"}, UIDs: []uint32{0}, Console: "127.0.0.1:8642",
			BreakGlass: true, TLS: ConsoleTLS{Certificate: "/etc/bailiff/console.pem", Key: "/etc/bailiff/console.key",
				Name: "bailiff.example.com"},
			OIDC: OIDC{Issuer: "https://id.example.com", ClientID: "bailiff", ClientSecret: settings.Credential{Env: "OIDC_SECRET"},
				AccountClaim: "email", GroupsClaim: "roles", Scopes: []string{"email"}, Session: 8 * time.Hour,
				CAFile: "/etc/bailiff/ca.pem"},
			Tokens: []Token{
				{Name: "siem", Scopes: []string{"approvals.read", "decisions.read", "status.read"}, File: "/etc/bailiff/siem.token"},
				{Name: "pager", Scopes: []string{"freeze.write", "grants.write", "sandboxes.write"}, File: "/etc/bailiff/pager.token"}}},
		People: []Person{{Name: "ana", Groups: []string{"security"}, UIDs: []uint32{1000}, Roles: []string{"approver", "operator"},
			OIDC:     []string{"ana@example.com"},
			Accounts: map[string][]string{"telegram": {"42"}, "slack": {"U07A"}}}},
		Metrics: Metrics{Listen: "127.0.0.1:9464"},
		Policies: Policies{Paths: []string{"/etc/bailiff/policies"}, RequireTests: true, EvalTimeout: 250 * time.Millisecond,
			Shadow: []string{"/etc/bailiff/next"}},
		DecisionLog: DecisionLog{Rotate{32, 1}, Retain{90, 1000},
			Export{httpapi.Server{URL: "https://logs.example.com/logs", Token: settings.Credential{Env: "LOGS_TOKEN"},
				CAFile: "/etc/bailiff/ca.pem"}, FormatOCSF},
			Syslog{syslog.Server{Address: "relp://10.0.0.7:2514", CAFile: "/etc/bailiff/ca.pem", AcceptPlaintext: true}, FormatOPA}},
		Traces: Traces{Server: httpapi.Server{URL: "https://collector.example.com/v1/traces",
			Token: settings.Credential{Env: "TRACES_TOKEN"}, CAFile: "/etc/bailiff/ca.pem"},
			Sample: 0.25, Commands: true},
		Env: Env{Sources: []Source{{}, {File: "/home/ana/.hermes/.env"}}},
		Guards: []guard.Rule{{Name: "no-ssh-from-discord", Message: "No ssh from Discord.", Instead: "Use https.",
			When: `request.session.platform == "discord" && "ssh" in command.programs`}},
		Approvals: Approvals{Timeout: 5 * time.Minute, Routes: []Route{
			{
				Name: "secrets", When: "decision.approval.reasons.exists(r, r.rule.startsWith(\"secrets.\"))\n",
				Approvers: `"security" in approver.groups`, Quorum: 1, Timeout: 10 * time.Minute, Channels: []string{"console"},
				Proof: bailiff.ProofWebAuthn,
			},
			{Name: "rest", Quorum: 1, Channels: []string{"operator", "console"}},
		}},
		Limits: Limits{
			RequestsPerMinute: Shares{Caller: 0, Session: 60, User: 30_000},
			PendingApprovals:  Shares{Caller: 1000, Session: 2, User: 5},
			Sandboxes:         SandboxShares{Total: 40, Caller: 20, User: 50, Backend: 400},
			Warm:              Warm{Sandboxes: 0, MemoryMB: 512},
		},
		Egress: Egress{
			Hosts: map[string]netip.Addr{"registry.corp": netip.MustParseAddr("10.0.0.5")},
			Own:   []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:11434")}, Trust: []string{"/etc/bailiff/inner-ca.pem"},
			Resolver:      []netip.AddrPort{netip.MustParseAddrPort("10.0.0.53:53"), netip.MustParseAddrPort("[fd00::53]:5353")},
			CA:            EgressCA{Certificate: "/etc/bailiff/ca.pem", Key: "/etc/bailiff/ca.key"},
			UpstreamProxy: UpstreamProxy{URL: "http://proxy.corp:3128", Credential: settings.Credential{Env: "PROXY_LOGIN"}},
			Limits:        EgressLimits{Connections: 100, Total: 4096, PerSecond: 10, PerHost: 32, HoldSeconds: 60},
		},
		Backends: Backends{
			"docker":     engine,
			"bubblewrap": &bubblewrap.Config{},
			"local":      &local.Config{Workdir: "/home/ana/agent"},
		},
		Runner: Runner{Path: "/usr/lib/bailiff/bailiff-runner"},
		Log:    Log{Format: "json", Level: "debug"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// parse reads a text that may name every technology.
func parse(name, text string) (*Config, error) { return Parse(name, []byte(text), catalogue.All()) }

func TestWhatAFileLeavesOutHasItsDefault(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an empty file":       "",
		"only comments":       "# nothing here\n",
		"empty sections":      "agent:\nbackends:\nlog: {}\n",
		"an explicit default": "metrics: {listen: \"127.0.0.1:9464\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse("bailiff.yaml", text)
			want := Default(catalogue.All())
			want.Path = "bailiff.yaml"
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, want)
			}
		})
	}
}

func TestABackendIsConfiguredIfItsKeyIsThere(t *testing.T) {
	t.Parallel()
	c, err := parse("bailiff.yaml", "backends: {local: {}, docker: }")
	if want := (Backends{"local": &local.Config{}, "docker": docker.Defaults()}); err != nil || !reflect.DeepEqual(c.Backends, want) {
		t.Errorf("got %+v, %v", c.Backends, err)
	}
}

func TestMetricsCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	c, err := parse("bailiff.yaml", `metrics: {listen: ""}`)
	if err != nil || c.Metrics.Listen != "" {
		t.Errorf("got %q, %v", c.Metrics.Listen, err)
	}
}

func TestDefaultsSuitTheUser(t *testing.T) {
	t.Parallel()
	c := Default(catalogue.All())
	if os.Geteuid() == 0 && (c.StateDir != "/var/lib/bailiff" || c.Operator.Listen.String() != "unix:///run/bailiff/operator.sock") {
		t.Errorf("root gets %s, %s", c.StateDir, c.Operator.Listen)
	}
	if got := c.Operator.UIDs; len(got) != 1 || int(got[0]) != os.Geteuid() {
		t.Errorf("operators are %v, want oneself", got)
	}
	if w := c.Warnings(); len(w) != 0 {
		t.Errorf("the defaults warn: %q", w)
	}
}

func TestWhatIsRiskyWarns(t *testing.T) {
	t.Parallel()
	c, err := parse("bailiff.yaml", `
agent: {listeners: [{name: far, listen: "tcp://0.0.0.0:8640", token_file: t}, {name: near, listen: "tcp://[::1]:8640", token_file: t}]}
operator: {allow_same_user: true, console: "10.0.0.1:8642"}
metrics: {listen: "0.0.0.0:9464"}
backends: {local: {}}
`)
	must(t, err)
	warned := strings.Join(c.Warnings(), "\n")
	for _, part := range []string{"listener far", "metrics are served", "console is served", "allow_same_user", "no isolated backend"} {
		if !strings.Contains(warned, part) {
			t.Errorf("no warning about %q in:\n%s", part, warned)
		}
	}
	if strings.Contains(warned, "near") {
		t.Errorf("a listener on loopback warns:\n%s", warned)
	}
}

func TestTheConfigurationIsFoundInOrder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	asked, named := filepath.Join(home, "asked.yaml"), filepath.Join(home, "named.yaml")
	own := filepath.Join(home, ".config/bailiff/bailiff.yaml")
	for _, path := range []string{asked, named, own} {
		write(t, path, "", 0o600)
	}
	t.Setenv("BAILIFF_CONFIG", named)
	find(t, asked, asked)
	find(t, "", named)
	t.Setenv("BAILIFF_CONFIG", "")
	find(t, "", own)
	if _, err := Find(filepath.Join(home, "missing")); err == nil {
		t.Error("a file that was asked for and is missing was passed over")
	}
	t.Setenv("BAILIFF_CONFIG", filepath.Join(home, "missing"))
	if _, err := Find(""); err == nil {
		t.Error("a file that $BAILIFF_CONFIG names and is missing was passed over")
	}
}

func find(t *testing.T, explicit, want string) {
	t.Helper()
	if got, err := Find(explicit); got != want || err != nil {
		t.Errorf("Find(%q) is %q, %v; want %q", explicit, got, err, want)
	}
}

func TestLoadRefusesWhatOthersMayWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "bailiff.yaml")
	write(t, path, "policies: {paths: [policies]}\n", 0o600)
	write(t, filepath.Join(dir, "policies", "a.rego"), "package bailiff\n", 0o644)
	if _, err := Load(path, catalogue.All()); err != nil {
		t.Fatalf("a file of one's own is refused: %v", err)
	}
	must(t, os.Chmod(filepath.Join(dir, "policies", "a.rego"), 0o666))
	if _, err := Load(path, catalogue.All()); err != nil {
		t.Fatalf("policies are looked into by whoever loads them, not here: %v", err)
	}
	must(t, os.Chmod(path, 0o620))
	refused(t, path, "others may write "+path)
}

func TestLoadNamesAMissingTokenFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bailiff.yaml")
	write(t, path, "agent: {listeners: [{name: a, listen: \"tcp://127.0.0.1:1\", token_file: gone}]}\n", 0o600)
	refused(t, path, "agent.listeners[0].token_file: checking who may write")
}

func refused(t *testing.T, path, want string) {
	t.Helper()
	if _, err := Load(path, catalogue.All()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("loading gives %v, want %q", err, want)
	}
}

func TestLoadWithoutAFileGivesTheDefaults(t *testing.T) {
	t.Parallel()
	if c, err := Load("", catalogue.All()); err != nil || !reflect.DeepEqual(c, Default(catalogue.All())) {
		t.Errorf("got %+v, %v", c, err)
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/bad/*.yaml")
	for _, file := range append(files, "testdata/good.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parse("bailiff.yaml", string(text))
		if err == nil && (c.Approvals.Timeout <= 0 || c.Policies.EvalTimeout <= 0 || len(c.Operator.UIDs) == 0) {
			t.Errorf("accepted %+v", c)
		}
	})
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), mode))
	must(t, os.Chmod(path, mode))
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
