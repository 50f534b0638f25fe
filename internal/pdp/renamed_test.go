package pdp

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// oldPolicies is a copy of the shipped policies from before their helpers began with "_".
const oldPolicies = "testdata/policies-before-underscores.tar.gz"

func TestUseOfAnOldNameIsAnsweredWithTheNewOne(t *testing.T) {
	t.Parallel()
	backendtest.Evaluates(t)
	const said = `{"rule": "house.x", "message": "No."}`
	for name, c := range map[string]struct{ file, text, want string }{
		"a helper": {"house.rego", "package bailiff\n\ndeny contains " + said + " if best == \"docker\"\n",
			"house.rego:3: rego_unsafe_var_error: var best is unsafe: data.bailiff.best is called _best now"},
		"a part of one": {"house.rego", "package bailiff\n\ndeny contains " + said +
			" if {\n\tsome call in calls_by.deploy\n\tcall.operands\n}\n",
			"house.rego:4: rego_unsafe_var_error: var call is unsafe\nhouse.rego:4: rego_unsafe_var_error: var calls_by is unsafe: " +
				"data.bailiff.calls_by is called _calls_by now"},
		"a function": {"house.rego", "package bailiff\n\ndeny contains " + said + " if is_host(\"local\")\n",
			"house.rego:3: rego_type_error: undefined function is_host: data.bailiff.is_host is called _is_host now"},
		"by its whole path": {"house.rego", "package bailiff\n\ndeny contains " + said + " if data.bailiff.place == \"host\"\n",
			"house.rego:3: no rule is called place: data.bailiff.place is called _place now"},
		"of another package": {"house.rego", "package house\n\nimport data.bailiff\n\nx if bailiff.outcome == \"deny\"\n",
			"house.rego:5: no rule is called outcome: data.bailiff.outcome is called _outcome now"},
		"in a test": {"house_test.rego", "package house_test\n\ntest_it if not data.bailiff.understood\n",
			"house_test.rego:3: no rule is called understood: data.bailiff.understood is called _understood now"},
		"more of what was examined": {"house.rego", "package bailiff\n\nexamined.program contains " + said + "\n",
			"house.rego:3: no rule reads the set examined, which is called _examined now: add to findings"},
		"more of a set": {"house.rego", "package bailiff\n\naspects contains \"house\"\n",
			"house.rego:3: no rule reads the set aspects, which is called _aspects now: add to findings, deny or another set of " +
				"decision.rego"},
		"a name of one's own": {"house.rego", "package bailiff\n\nbest := \"docker\"\n\ndeny contains " + said + " if best == \"podman\"\n",
			""},
		"an unknown name": {"house.rego", "package bailiff\n\ndeny contains " + said + " if worst\n",
			"house.rego:3: rego_unsafe_var_error: var worst is unsafe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := untested(t)
			write(t, filepath.Join(root, c.file), c.text)
			if strings.Contains(c.want, "rego_") { // which the tests find as well
				_, err := regotest.Run(t.Context(), regotest.Config{Paths: []string{root}})
				if err == nil || strings.ReplaceAll(err.Error(), root+"/", "") != c.want {
					t.Errorf("the tests end with %v\nwant %q", err, c.want)
				}
			}
			if got := strings.ReplaceAll(source.Faults(Check(Config{Paths: []string{root}})).Error(), root+"/", ""); got != c.want {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestFilesMayDefineEveryNameThatAHelperHad(t *testing.T) {
	t.Parallel()
	backendtest.Long(t)
	root, added := copied(t), "package bailiff\n"
	names := oldHelpers(t)
	for _, name := range names {
		added += "\n" + name + " := \"ours\"\n"
	}
	if len(names) < 170 {
		t.Fatalf("there are %d old helpers", len(names))
	}
	write(t, filepath.Join(root, "house.rego"), added)
	if faults := Check(Config{Paths: []string{root}}); len(faults) > 0 {
		t.Error(faults)
	}
	report, err := regotest.Run(t.Context(), regotest.Config{Paths: []string{root}})
	if err != nil || !report.OK() {
		t.Error(report, err)
	}
}

// oldHelpers are the names that rules of package bailiff had and have no more.
func oldHelpers(t *testing.T) []string {
	t.Helper()
	old, faults := policyset.Load(source.ReadAll, []string{before(t)})
	must(t, faultsOrNil(faults))
	shipped, faults := policyset.Load(source.ReadAll, nil)
	must(t, faultsOrNil(faults))
	names := rulesOf(old)
	for name := range rulesOf(shipped) {
		delete(names, name)
	}
	return slices.Sorted(maps.Keys(names))
}

func rulesOf(p *policyset.Set) map[string]bool {
	names := map[string]bool{}
	for _, module := range p.All() {
		for _, rule := range module.Rules {
			if module.Package.Path.String() == "data.bailiff" {
				names[string(rule.Head.Ref()[0].Value.(ast.Var))] = true
			}
		}
	}
	return names
}

func faultsOrNil(faults source.Faults) error {
	if len(faults) == 0 {
		return nil
	}
	return faults
}

// A copy that a team made of the shipped policies is its own: it works on as it is.
func TestACopyOfOlderShippedPoliciesWorksOn(t *testing.T) {
	t.Parallel()
	backendtest.Long(t)
	root := before(t)
	p, err := Open(t.Context(), Config{Paths: []string{root}, RequireTests: true, EvalTimeout: time.Minute})
	must(t, err)
	for command, want := range map[string]bailiff.Outcome{"ls": bailiff.Allow, "rm -rf /": bailiff.Deny, "sudo ls": bailiff.Ask} {
		one := listing
		one.Args.Command, one.Session.Platform = command, "cli"
		at := bailiff.Circumstances{Time: time.Unix(0, 0), Backends: map[string]bailiff.BackendState{"local": {Ready: true}}}
		if j := p.Decide(t.Context(), one, at); j.Decision.Outcome != want || j.Fault != nil {
			t.Errorf("%s: %+v %v", command, j.Decision, j.Fault)
		}
	}
}

// before is a copy of the older policies that only its owner may write.
func before(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(oldPolicies)
	must(t, err)
	name := filepath.Join(t.TempDir(), "policies.tar.gz")
	must(t, os.WriteFile(name, text, 0o600))
	return name
}

// entrypoints are the rules that bailiff asks for.
var entrypoints = []string{"decision", "connection", "mcp_offered"}

// What every file may use or add to is documented by its name, so it has no "_".
func TestTheRulesOfTheShippedPoliciesAreTheContributionSetsOrBeginWithAnUnderscore(t *testing.T) {
	backendtest.Evaluates(t)
	t.Parallel()
	p, faults := policyset.Load(source.ReadAll, nil)
	must(t, faultsOrNil(faults))
	own := regexp.MustCompile(`^_[a-z_]+$`)
	for name := range rulesOf(p) {
		if !own.MatchString(name) && !policyset.IsContributed(name) && !slices.Contains(entrypoints, name) {
			t.Errorf("%s has no underscore, and no file adds to it", name)
		}
	}
}
