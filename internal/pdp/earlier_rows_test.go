package pdp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// What a team says of programs in the tables and packs of an earlier release goes on: alone, and beside the entries.
func TestRowsAndPacksOfAnEarlierReleaseGoOn(t *testing.T) {
	backendtest.Evaluates(t)
	t.Parallel()
	team := filepath.Join(t.TempDir(), "team")
	must(t, os.CopyFS(team, os.DirFS("testdata/team-of-9cfc2fa9")))
	p, err := Open(t.Context(), Config{Paths: []string{untested(t), team}, EvalTimeout: time.Minute})
	must(t, err)
	for command, want := range map[string]string{
		"acme-root ls":                   "command.gains_privilege",
		"acmectl delete x":               "command.destroys_data",
		"acmectl show delete":            "",
		"acmectl --region eu show x":     "",
		"acmectl delete preview":         "",
		"acme-tool --exec x":             "command.runs_inline_program",
		"acme-tool halt":                 "command.stops_services",
		"acme-tool web wipe":             "command.destroys_data",
		"acme-build delete":              "",
		"acme-unknown delete":            "command.may_change_elsewhere",
		"acmegate server delete x":       "command.destroys_data",
		"acmegatectl server create":      "command.costs_money",
		"acmegate list --public":         "command.publishes",
		"acmegatectl purge-all":          "command.destroys_data",
		"terraform acme nuke":            "command.destroys_data",
		"terraform destroy":              "command.destroys_data",
		"acmex https://x.test/a.tgz":     "command.runs_downloaded",
		"docker ps":                      "",
		"vault kv get secret/production": "command.reads_credentials",
	} {
		if rules := rulesOn(t, p, command); want == "" && len(rules) > 0 || want != "" && !slices.Contains(rules, want) {
			t.Errorf("%s: the rules are %v, want %q", command, rules, want)
		}
	}
}

// A folder that holds the shipped policies of an earlier release whole is judged by these.
func TestThePoliciesOfTheReleaseBeforeEntriesWorkOn(t *testing.T) {
	t.Parallel()
	backendtest.Long(t)
	text, err := os.ReadFile("testdata/policies-of-9cfc2fa9.tar.gz")
	must(t, err)
	name := filepath.Join(t.TempDir(), "policies.tar.gz")
	must(t, os.WriteFile(name, text, 0o600))
	p, err := Open(t.Context(), Config{Paths: []string{name}, RequireTests: true, EvalTimeout: time.Minute})
	must(t, err)
	for command, want := range map[string]string{"ls": "", "sudo ls": "command.gains_privilege",
		"vault kv delete x": "command.destroys_data", "aircrack-ng x": "command.attacks_host", "docker ps": ""} {
		if rules := rulesOn(t, p, command); want == "" && len(rules) > 0 || want != "" && !slices.Contains(rules, want) {
			t.Errorf("%s: the rules are %v, want %q", command, rules, want)
		}
	}
}

// rulesOn are the rules that ask about a command on the host.
func rulesOn(t *testing.T, p *PDP, command string) (rules []string) {
	t.Helper()
	one := listing
	one.Args.Command, one.Session.Platform = command, "cli"
	j := p.Decide(t.Context(), one, bailiff.Circumstances{Time: time.Unix(0, 0),
		Backends: map[string]bailiff.BackendState{"local": {Ready: true}}})
	if j.Fault != nil {
		t.Fatalf("%s: %v", command, j.Fault)
	}
	for _, r := range j.Decision.Denials {
		rules = append(rules, r.Rule)
	}
	if j.Decision.Approval != nil {
		for _, r := range j.Decision.Approval.Reasons {
			rules = append(rules, r.Rule)
		}
	}
	return rules
}
