// Package ci_test runs what the files for CI say, in clean clones of a team's
// repository: all of it where a change is good, and up to the step that has to
// find it where one is not.
package ci_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/rhysd/actionlint"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
)

const github, gitlab = "github-actions.yaml", "gitlab-ci.yml"

// commands are what a file has run, in its order, without what installs.
func commands(t *testing.T, name string) (all []string) {
	t.Helper()
	if name == gitlab {
		var file struct {
			Policies struct {
				Image        string
				Rules        []struct{ If string }
				BeforeScript []string `yaml:"before_script"`
				Script       []string
				Artifacts    struct {
					When    string
					Reports struct{ JUnit string }
				}
			}
		}
		must(t, yaml.UnmarshalWithOptions(read(t, name), &file, yaml.Strict()))
		return file.Policies.Script
	}
	workflow, faults := actionlint.Parse(read(t, name))
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	for _, step := range workflow.Jobs["policies"].Steps {
		if run, ok := step.Exec.(*actionlint.ExecRun); ok && step.Name.Value != "Install" {
			all = append(all, run.Run.Value)
		}
	}
	return all
}

// The workflows of bailiff's own repository are read, too.
func TestTheWorkflowsAreOnesOfGitHub(t *testing.T) {
	own, err := filepath.Glob("../../.github/workflows/*.yaml")
	must(t, err)
	if len(own) == 0 {
		t.Error("the repository has no workflows")
	}
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	must(t, err)
	for _, name := range append(own, github) {
		faults, err := linter.Lint(name, read(t, name), nil)
		must(t, err)
		for _, fault := range faults {
			t.Error(fault)
		}
	}
}

func TestBothInstallTheOPAThatIsBuiltIn(t *testing.T) {
	version := regexp.MustCompile(`open-policy-agent/opa[@ ](v\S+)`)
	want := version.FindSubmatch(read(t, "../../go.mod"))
	for _, name := range []string{github, gitlab} {
		if got := version.FindSubmatch(read(t, name)); want == nil || got == nil || string(got[1]) != string(want[1]) {
			t.Errorf("%s installs %s, want %s", name, got, want)
		}
	}
}

// change is an edit of a team's repository; the command that begins so finds it, and says what is wrong. Those before it are for other
// changes, and GitLab's file has all of them pass.
type change struct{ file, old, new, found, says string }

// fine is a change that no command finds.
var fine = change{file: "house/more.rego", new: more(`"call" in input.command.programs`)}

var changes = map[string]change{
	"one badly written": {"house/more.rego", "", "package bailiff\nx   := 1\n", "opa fmt", "more.rego"},
	"a misspelt input":  {"house/more.rego", "", more("input.sesion.id"), "opa check", "more.rego:3"},
	"a wrong setting":   {"bailiff.yaml", "policies:", "polices:", "bailiff check", "bailiff.yaml:2"},
	"a wrong table":     {"house/data.yaml", "host: deny, sandbox: deny", "host: deny, sandbox: denied", "bailiff check", "data.yaml:"},
	"a failing test":    {"house/more_test.rego", "", "package more_test\n\ntest_never if 1 == 2\n", "bailiff test", "test_never"},
	"what asks in vain": {"house/more.rego", "",
		strings.Replace(more(`input.args.command == "ls -la ~/old"`), "deny", "require_approval", 1), "bailiff judge", "1 of 1 (100.0 %)"},
	"who may do more now": {"house/data.yaml", "C0SHOP: [staging]", "C0SHOP: [staging], C0NEW: [staging]", "bailiff replay",
		"1 let more happen"},
}

func more(condition string) string {
	return "package bailiff\n\ndeny contains {\"rule\": \"house.more\", \"message\": \"No.\"} if " + condition + "\n"
}

func TestTheWorkflowFindsWhatIsWrongWithAChange(t *testing.T) {
	origin := repository(t)
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			clone := cloned(t, origin, c)
			steps := slices.DeleteFunc(commands(t, github), func(step string) bool { return !strings.HasPrefix(last(step), c.found) })
			if len(steps) != 1 {
				t.Fatalf("%d steps end with %s", len(steps), c.found)
			}
			printed, failed := run(t, clone, steps)
			if failed == "" || !strings.HasPrefix(last(failed), c.found) || !strings.Contains(printed, c.says) {
				t.Errorf("%q failed, want %q to say %q:\n%s", failed, c.found, c.says, printed)
			}
			if c.found == "bailiff test" && !strings.Contains(string(read(t, filepath.Join(clone, "report.xml"))), `name="test_never"`) {
				t.Error("the report has no failing test")
			}
		})
	}
}

// last is the last line of a step, where it fails.
func last(step string) string {
	lines := strings.Split(strings.TrimSpace(step), "\n")
	return lines[len(lines)-1]
}

func TestGitLabsFileDoesTheSameOnFilesThatEverybodyMayWrite(t *testing.T) {
	theirs, ours := judging(commands(t, github)), judging(commands(t, gitlab))
	if len(ours) < 6 || !slices.Equal(theirs, ours) {
		t.Errorf("it has\n%s\nand the workflow\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
	clone := cloned(t, repository(t), fine)
	sh(t, clone, "chmod -R a+w .")
	var whole []string
	for _, command := range commands(t, gitlab) {
		whole = append(whole, strings.Replace(command, coverage, " --threshold 1 ", 1))
	}
	if printed, failed := run(t, clone, whole[1:]); !strings.HasPrefix(failed, "bailiff check") ||
		!strings.Contains(printed, "others may write") {
		t.Errorf("without %q it is %q that fails:\n%s", whole[0], failed, printed)
	}
	if printed, failed := run(t, clone, whole); failed != "" {
		t.Errorf("%q failed:\n%s", failed, printed)
	}
	shipped, err := filepath.Abs("../../policies")
	must(t, err)
	sh(t, clone, "cp -r "+shipped+"/. policies && chmod -R go-w policies")
	counted := slices.DeleteFunc(commands(t, gitlab), func(command string) bool { return !strings.Contains(command, coverage) })
	if printed, failed := run(t, clone, counted); len(counted) != 1 || failed != "" {
		t.Errorf("%q of %q failed:\n%s", failed, counted, printed)
	}
}

// coverage is what the tests of the shipped policies and of the team's reach together. All else is tried without those of the shipped
// policies, which take longer than all of it.
const coverage = " --threshold 80 "

// judging are the lines of commands that opa or bailiff run.
func judging(commands []string) (lines []string) {
	for line := range strings.Lines(strings.Join(commands, "\n")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "opa ") || strings.HasPrefix(line, "bailiff ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// repository is a team's, as its server has it, without the tests of the shipped policies.
func repository(t *testing.T) string {
	t.Helper()
	work := filepath.Join(t.TempDir(), "work")
	policytest.CopyBeside(t, filepath.Join(work, "policies"))
	must(t, os.CopyFS(filepath.Join(work, "house"), os.DirFS("../policies/slack")))
	must(t, os.WriteFile(filepath.Join(work, "bailiff.yaml"),
		[]byte("state_dir: state\npolicies: {paths: [policies, house]}\nbackends: {docker: {}}\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(work, "rows.jsonl"), []byte(`{"tool": "terminal", "text": "rm -rf ~/old", "want": "ask"}
{"tool": "terminal", "text": "ls -la ~/old", "want": "allow"}
`), 0o600))
	keepLog(t, work)
	sh(t, work, "git init -q -b main && git add . && "+commit+" -m policies && git clone -q --bare . ../origin.git")
	return filepath.Join(filepath.Dir(work), "origin.git")
}

const commit = "git -c user.name=ana -c user.email=ana@example.com commit -q"

// keepLog has in decisions what the policies there decided of a few requests.
func keepLog(t *testing.T, work string) {
	t.Helper()
	judge, err := pdp.Try(t.Context(), pdp.Config{EvalTimeout: time.Minute,
		Paths: []string{filepath.Join(work, "policies"), filepath.Join(work, "house")}})
	must(t, err)
	log, err := audit.Open(audit.Config{StateDir: work})
	must(t, err)
	here := bailiff.Circumstances{Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		Backends: map[string]bailiff.BackendState{"docker": {Isolated: true, Ready: true}}}
	for _, text := range []string{"ls", "git push", "deploy staging"} {
		j := judge.Decide(t.Context(), bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: text},
			Session: bailiff.Session{ID: "s", Platform: "slack", ChatType: "channel", ChatID: "C0NEW", UserID: "U07A"}}, here)
		log.Note(api.Event{DecisionID: text, Timestamp: here.Time, Path: "bailiff/decision", Input: j.Input, Result: j.Decision,
			Custom: api.Custom{Event: api.DecisionEvent}})
	}
	must(t, log.Close())
	sh(t, work, "rm -rf audit")
}

// cloned is a clone with a change, as CI has it.
func cloned(t *testing.T, origin string, c change) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "clone")
	sh(t, ".", "git clone -q "+origin+" "+clone)
	file := filepath.Join(clone, c.file)
	text := c.new
	if c.old != "" {
		text = strings.Replace(string(read(t, file)), c.old, c.new, 1)
	}
	must(t, os.WriteFile(file, []byte(text), 0o600))
	sh(t, clone, "git checkout -q -b change && git add . && "+commit+" -m change")
	return clone
}

// run runs the commands up to the first that fails.
func run(t *testing.T, folder string, commands []string) (printed, failed string) {
	t.Helper()
	opa, err := exec.Command("go", "tool", "-n", "opa").Output()
	must(t, err)
	for _, text := range commands {
		command := exec.Command("bash", "-eo", "pipefail", "-c", text)
		command.Dir = folder
		command.Env = append(os.Environ(), "GITHUB_BASE_REF=main", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main", "HOME="+t.TempDir(),
			"PATH="+apptest.Programs(t)+":"+filepath.Dir(strings.TrimSpace(string(opa)))+":"+os.Getenv("PATH"))
		out, err := command.CombinedOutput()
		printed += string(out)
		if err != nil {
			return printed, text
		}
	}
	return printed, ""
}

func sh(t *testing.T, folder, text string) {
	t.Helper()
	command := exec.Command("sh", "-c", text)
	command.Dir = folder
	if printed, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", text, err, printed)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return text
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
