// Package policies_test holds the policies of three teams to what their pages
// say: that they come into force beside the shipped ones, pass their tests
// here and in stock OPA, and decide as their tables show.
package policies_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
)

const root = "../.."

// team is one of the folders.
type team struct {
	name, page string
	// folder holds a copy of the shipped policies, of the team's and of its
	// configuration, as its users would have them.
	folder string
}

// teams are all. Their copies of the shipped policies have no tests of their own.
func teams(t *testing.T) []team {
	t.Helper()
	pages, err := filepath.Glob("*/README.md")
	must(t, err)
	if len(pages) < 3 {
		t.Fatalf("there are %v", pages)
	}
	var all []team
	for _, page := range pages {
		text, err := os.ReadFile(page)
		must(t, err)
		one := team{name: filepath.Dir(page), page: string(text), folder: t.TempDir()}
		policytest.CopyBeside(t, filepath.Join(one.folder, "policies"))
		must(t, os.CopyFS(filepath.Join(one.folder, one.name), os.DirFS(one.name)))
		must(t, os.WriteFile(filepath.Join(one.folder, "bailiff.yaml"), []byte("state_dir: state\n"+one.configuration(t)), 0o600))
		all = append(all, one)
	}
	return all
}

var shownConfiguration = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func (one team) configuration(t *testing.T) string {
	t.Helper()
	shown := shownConfiguration.FindStringSubmatch(one.page)
	if shown == nil {
		t.Fatalf("%s shows no configuration", one.name)
	}
	return shown[1]
}

func (one team) run(t *testing.T, program string, words ...string) (printed string, status int) {
	t.Helper()
	command := exec.Command(program, words...)
	command.Dir = one.folder
	command.Env = append(os.Environ(), "HOME="+one.folder, "BAILIFF_CONFIG="+filepath.Join(one.folder, "bailiff.yaml"))
	out, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), command.ProcessState.ExitCode()
}

func TestThePoliciesOfTeamsAreCleanForStockOPA(t *testing.T) {
	found, err := exec.Command("go", "tool", "-n", "opa").Output()
	must(t, err)
	opa := strings.TrimSpace(string(found))
	for _, one := range teams(t) {
		for _, words := range [][]string{
			{"fmt", "--fail", "--list", one.name},
			{"check", "--strict", "-s", "policies/schema/input.json", "policies", one.name},
			{"test", "policies", one.name},
		} {
			if printed, status := one.run(t, opa, words...); status != 0 {
				t.Errorf("%s: opa %v exits with %d\n%s", one.name, words, status, printed)
			}
		}
	}
}

func TestThePoliciesOfTeamsComeIntoForceBesideTheShippedOnes(t *testing.T) {
	bailiff := filepath.Join(apptest.Programs(t), "bailiff")
	known := &passes.Memory{} // so that a team has the tests run that read what it changes
	for _, one := range teams(t) {
		both := []string{filepath.Join(root, "policies"), one.name}
		if _, err := pdp.Open(t.Context(), pdp.Config{Paths: both, RequireTests: true, Passes: known}); err != nil {
			t.Errorf("%s: the shipped policies' own tests: %v", one.name, err)
		}
		if printed, status := one.run(t, bailiff, "check"); status != 0 {
			t.Errorf("%s: bailiff check exits with %d\n%s", one.name, status, printed)
		}
	}
}

var shownRequest = regexp.MustCompile("(?m)^\\| (\\w+) \\| (\\w+) \\| (\\w+) \\| `(.+)` \\| (allow|ask|deny) \\|$")

func TestThePoliciesOfTeamsDecideAsTheirPagesShow(t *testing.T) {
	for _, one := range teams(t) {
		rows := shownRequest.FindAllStringSubmatch(one.page, -1)
		if len(rows) < 5 || len(rows) != strings.Count(one.page, "\n| ")-1 {
			t.Errorf("%s: %d requests can be read", one.name, len(rows))
		}
		paths := []string{filepath.Join(one.folder, "policies"), filepath.Join(one.folder, one.name)}
		judge, err := pdp.Try(t.Context(), pdp.Config{Paths: paths, EvalTimeout: time.Minute})
		must(t, err)
		for _, row := range rows {
			asked := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: strings.ReplaceAll(row[4], `\|`, "|")},
				Session: bailiff.Session{ID: "s", Platform: row[1], ChatID: row[2], UserID: row[3], ChatType: "dm"}}
			if j := judge.Decide(t.Context(), asked, docker); j.Decision.Outcome.String() != row[5] || j.Fault != nil {
				t.Errorf("%s: %q of %s is decided as %+v, want %s: %v", one.name, asked.Args.Command, row[3], j.Decision, row[5], j.Fault)
			}
		}
	}
}

var docker = bailiff.Circumstances{
	Time:     time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
	Backends: map[string]bailiff.BackendState{"docker": {Isolated: true, Ready: true}},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
