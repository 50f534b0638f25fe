package doctor_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/agents/claudecode"
	"github.com/bailiff-dev/bailiff/internal/agents/doctor"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
)

// at is a doctor for one listener.
func at(t *testing.T, address string) doctor.Doctor {
	t.Helper()
	text := `agent: {listeners: [{name: a, listen: "` + address + `", platforms: [telegram]}]}`
	cfg, err := config.Parse("/etc/bailiff/bailiff.yaml", []byte(text), catalogue.All())
	backendtest.Must(t, err)
	return doctor.Doctor{Config: cfg, UID: os.Geteuid(), Start: "start it"}
}

func TestNoBrokenSidecarIsFoundWell(t *testing.T) {
	t.Parallel()
	for _, broken := range apptest.BrokenSidecars() {
		t.Run("one that "+broken.Name, func(t *testing.T) {
			t.Parallel()
			d := at(t, broken.Open(t, "unix"))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if all := d.Examine(ctx); all.Worst() != diagnosis.Failed {
				t.Errorf("it finds %+v", all)
			}
		})
	}
}

func TestASidecarIsProvenWithoutAnOperatorsRight(t *testing.T) {
	t.Parallel()
	s := apptest.Serve(t, "policies: {eval_timeout: 10s, require_tests: false}")
	all := at(t, s.Agent).Examine(t.Context())
	if all.Worst() != diagnosis.Fine || len(all) != 8 {
		t.Errorf("it finds %+v", all)
	}
	asking := apptest.Serve(t, apptest.WithRules(t, `
require_approval contains {"rule": "house.git", "message": "It uses git.", "match": "git"} if "git" in input.command.programs
`))
	for _, c := range at(t, asking.Agent).Examine(t.Context()) {
		if c.Name == "asked at a" && (c.State != diagnosis.Fine || !strings.Contains(c.Message, "and it was taken back")) {
			t.Errorf("a question that no approver answered is %+v", c)
		}
	}
}

func TestSecretsThatStayOutAreNoFailureWhateverIsAskedAbout(t *testing.T) {
	t.Parallel()
	networked := apptest.WithRules(t, "", "    network:\n      platforms: {}\n",
		"    network:\n      platforms: {telegram: {network: egress}}\n")
	asking := apptest.WithRules(t, `
require_approval contains {"rule": "house.seeks", "message": "It seeks.", "match": "came"} if contains(input.args.command, "+came")
`)
	for policies, want := range map[string]string{networked: "stay out stay out: BAILIFF_TOKEN, LD_PRELOAD.",
		asking: "are withheld: BAILIFF_TOKEN, LD_PRELOAD. Whether one came in was not tried: the policies say ask about"} {
		s, found := apptest.Serve(t, policies), ""
		for _, c := range at(t, s.Agent).Examine(t.Context()) {
			if c.Name == "secret at a" {
				found = string(c.State) + " " + c.Message
			}
		}
		if !strings.HasPrefix(found, string(diagnosis.Fine)) || !strings.Contains(found, want) {
			t.Errorf("of secrets it finds %q, want %q", found, want)
		}
		pending, err := s.Operators(t).Approvals(t.Context(), api.Query{State: "pending"})
		if err != nil || len(pending.Approvals) > 0 {
			t.Errorf("there is left to be answered %+v, %v", pending, err)
		}
	}
}

func TestToolsByMCPAreCalled(t *testing.T) {
	t.Parallel()
	s := apptest.Serve(t, `agent: {listeners: [{name: a, listen: "<agent>", platforms: ["*"], mcp: {platform: telegram, user: "7"}}]}`)
	d := at(t, s.Agent)
	d.Config.Agent.Listeners[0].MCP = &config.MCP{}
	all := d.Examine(t.Context())
	if last := all[len(all)-1]; all.Worst() != diagnosis.Fine || last.Name != "tools by MCP at a" {
		t.Errorf("it finds %+v", all)
	}
	started := settings.Server{Path: "f", Command: []string{apptest.Programs(t) + "/bailiff", "mcp", "--listen", s.Agent}}
	if all := doctor.ExamineServer(t.Context(), started); all.Worst() != diagnosis.Fine {
		t.Errorf("of a server that the agent starts it finds %+v", all)
	}
	without := apptest.Serve(t)
	d = at(t, without.Agent)
	d.Config.Agent.Listeners[0].MCP = &config.MCP{}
	if all := d.Examine(t.Context()); all.Worst() != diagnosis.Failed || !strings.HasPrefix(all[len(all)-1].Name, "tools by MCP") {
		t.Errorf("of a listener that serves none yet it finds %+v", all)
	}
}

func TestToolsThatAnAgentCannotStartAreFound(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]settings.Server{
		"it is off":                    {Off: "it is off"},
		"does not serve them":          {Command: []string{"/nonexistent/bailiff", "mcp"}},
		"false does not serve them":    {Command: []string{"/bin/false"}},
		`Of "echo bailiff-doctor" the`: {Command: []string{apptest.Programs(t) + "/bailiff", "mcp", "--listen", "unix:///nonexistent"}},
	} {
		if all := doctor.ExamineServer(t.Context(), s); all.Worst() != diagnosis.Failed || !strings.Contains(all[0].Message, want) {
			t.Errorf("it finds %+v, want %s", all, want)
		}
	}
}

func TestAUserWhoMayAskNowhereIsTold(t *testing.T) {
	t.Parallel()
	d := at(t, "unix:///nonexistent/a.sock")
	d.Config.Agent.Listeners[0].UIDs = []uint32{4_000_000}
	if all := d.Examine(t.Context()); all.Worst() != diagnosis.Failed || !strings.Contains(all[0].Do, "in a listener's uids") {
		t.Errorf("it finds %+v", all)
	}
}

func TestATokenThatOthersMayReadOrThatIsNoGoodIsFound(t *testing.T) {
	t.Parallel()
	d := at(t, "unix:///nonexistent/a.sock")
	folder := t.TempDir()
	for _, name := range []string{"own", "kept", "open", "wide", "blind", "old", "twin"} {
		path := filepath.Join(folder, name)
		backendtest.Must(t, os.WriteFile(path, []byte("a-secret-of-a-program: "+strings.Replace(name, "twin", "kept", 1)), 0o600))
		token := config.Token{Name: name, File: path, Scopes: []string{api.TokenReadsStatus}}
		switch name {
		case "open":
			backendtest.Must(t, os.Chmod(path, 0o644))
		case "wide":
			token.Scopes = api.TokenScopes()
		case "blind":
			token.Scopes = []string{api.TokenRevokes}
		case "old":
			before := time.Now().AddDate(-2, 0, 0)
			backendtest.Must(t, os.Chtimes(path, before, before))
		}
		d.Config.Operator.Tokens = append(d.Config.Operator.Tokens, token)
	}
	found := map[string]diagnosis.State{}
	for _, c := range d.Examine(t.Context()) {
		found[c.Name] = c.State
	}
	for name, want := range map[string]diagnosis.State{"own": diagnosis.Fine, "kept": diagnosis.Failed, "open": diagnosis.Failed,
		"wide":  diagnosis.Warned,
		"blind": diagnosis.Warned, "old": diagnosis.Warned, "twin": diagnosis.Failed} {
		if got := found["token "+name]; got != want {
			t.Errorf("of the token that is %s it says %q, want %q", name, got, want)
		}
	}
}

func TestAHookIsStartedAsItsAgentWould(t *testing.T) {
	t.Parallel()
	const guard = ` || { [ $? -eq 2 ] || echo 'bailiff-hook failed, so nothing runs' >&2; exit 2; }`
	says := func(decision string) string {
		return `/usr/bin/timeout -s KILL 55 echo '{"hookSpecificOutput": {"permissionDecision": "` + decision + `"}}'` + guard
	}
	for line, want := range map[string]string{
		says("allow"): `About "false && rm -rf --no-preserve-root /" it says "allow", want "deny"`,
		says("deny"):  `About "echo bailiff-doctor" it says "deny", want "allow"`,
		`/usr/bin/timeout -s KILL 55 /nonexistent/bailiff-hook claude-code` + guard:   "it answers nothing that can be read",
		`/usr/bin/timeout -s KILL 55 /nonexistent/bailiff-hook claude-code || exit 2`: "the agent runs the tool",
	} {
		hooks := []settings.Hook{{Path: "f", Line: line, Tools: "*", Limit: 60}}
		all := doctor.ExamineHooks(t.Context(), "claude-code", claudecode.New(), hooks)
		if all.Worst() != diagnosis.Failed || all[0].Message != claudecode.New().WhereItFails() || !strings.Contains(all[1].Message, want) {
			t.Errorf("of %s it finds %+v, want %s", line, all, want)
		}
	}
}
