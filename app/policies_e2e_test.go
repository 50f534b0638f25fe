package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// rulesOf is a policy whose every part says which generation it is.
func rulesOf(generation int) string {
	return fmt.Sprintf(`package bailiff

decision := {
	"outcome": "deny",
	"denials": [{"rule": "house.%[1]d", "message": "generation %[1]d"}],
	"backend": {"name": "docker", "image": "", "scope": "session", "idle_seconds": 60, "network": "none", "egress": [],
		"cpus": 1, "memory_mb": 1, "disk_mb": 0, "pids": 1, "read_only": true, "mounts": []},
	"env": {"forward": [], "withheld": [], "set": {"GENERATION": "%[1]d"}},
	"limits": {"timeout_seconds": %[1]d, "output_bytes": 1},
}
`, generation)
}

const rulesTest = `package bailiff_test

import data.bailiff

test_denies if bailiff.decision.outcome == "deny"
`

// save writes a file the way editors do: beside it, and renamed over it.
func save(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path+".new", []byte(text), 0o600))
	must(t, os.Rename(path+".new", path))
}

func policyFolder(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	save(t, filepath.Join(folder, "house.rego"), rulesOf(1))
	save(t, filepath.Join(folder, "house_test.rego"), rulesTest)
	return folder
}

func TestReloadsUnderLoadFailNoRequestAndMixNoRevisions(t *testing.T) {
	t.Parallel()
	folder := policyFolder(t)
	s := startSidecar(t, dockerBackend, "policies: {paths: ["+folder+"]}")
	body, err := json.Marshal(inChat("s1", "git status"))
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var asked atomic.Int64
	generations := sync.Map{} // revision -> generation
	for range 8 {
		agent := s.client(t)
		clients.Go(func() {
			for ctx.Err() == nil {
				d, err := agent.Decide(t.Context(), body)
				if err != nil {
					t.Errorf("a request failed: %v", err)
					return
				}
				asked.Add(1)
				checkGeneration(t, d.Decision, &generations)
			}
		})
	}
	for generation := 2; generation <= 101; generation++ {
		save(t, filepath.Join(folder, "house.rego"), rulesOf(generation))
		awaitGeneration(t, s, generation)
	}
	stop()
	clients.Wait()
	t.Logf("%d requests during 100 reloads", asked.Load())
}

// checkGeneration wants every part of a decision to be of one generation, and a
// revision to belong to one generation only.
func checkGeneration(t *testing.T, d bailiff.Decision, generations *sync.Map) {
	generation := fmt.Sprint(d.Limits.TimeoutSeconds)
	if d.Env.Set["GENERATION"] != generation || d.Denials[0].Message != "generation "+generation {
		t.Errorf("a decision mixes generations: %+v", d)
	}
	if known, loaded := generations.LoadOrStore(d.Revision, generation); loaded && known != generation {
		t.Errorf("revision %s is generation %s and %s", d.Revision, known, generation)
	}
}

func awaitGeneration(t testing.TB, s *running, generation int) {
	t.Helper()
	req := inChat("await", "true")
	fault := func() string {
		return fmt.Sprintf("generation %d in force; status is %+v", generation, s.policies.Status())
	}
	awaittest.UntilOr(t, fault, func() bool {
		return s.policies.Decide(context.Background(), req, s.enforcer.Circumstances(req)).Decision.Limits.TimeoutSeconds == generation
	})
}

func TestABadPolicyKeepsTheLastGoodOneAndShows(t *testing.T) {
	t.Parallel()
	folder := policyFolder(t)
	s := startSidecar(t, dockerBackend, "policies: {paths: ["+folder+"]}")
	revision := s.policies.Revision()
	for name, bad := range map[string]string{
		"syntax":        "package bailiff\n\ndecision := {",
		"type":          "package bailiff\n\ndecision := input.sesion\n",
		"a failed test": strings.Replace(rulesOf(9), `"deny"`, `"allow"`, 1),
		"forbidden":     "package bailiff\n\ndecision := http.send({\"method\": \"get\", \"url\": \"http://127.0.0.1\"}).body\n",
	} {
		t.Run(name, func(t *testing.T) {
			save(t, filepath.Join(folder, "house.rego"), bad)
			awaitReadiness(t, s, "503\npolicies: ")
			if got := s.policies.Revision(); got != revision {
				t.Errorf("revision %s came into force", got)
			}
			if a := ask(t, s.client(t), inChat("s1", "true")); a.Status != bailiff.Refused || a.Decision.Revision != revision {
				t.Errorf("answer is %+v", a)
			}
			save(t, filepath.Join(folder, "house.rego"), rulesOf(1))
			awaitReadiness(t, s, "200\nready")
		})
	}
	if text := get(t, s, "/metrics"); !strings.Contains(text, `bailiff_policy_reloads_total{result="failure"}`) {
		t.Error("no metric counts the failed reloads")
	}
}

func awaitReadiness(t *testing.T, s *running, want string) {
	t.Helper()
	var got string
	awaittest.UntilOr(t, func() string { return fmt.Sprintf("/readyz says %q, want %q", got, want) }, func() bool {
		got = get(t, s, "/readyz")
		return strings.HasPrefix(got, want)
	})
}
