package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkAgainst compares the programs of this tree with those of an earlier commit, which "make bench-against
// COMMIT=…" names: each side judges by the policies of its own tree, in a folder, as a user has them. The sides take turns.
func BenchmarkAgainst(b *testing.B) {
	commit := os.Getenv("BAILIFF_BENCH_AGAINST")
	if commit == "" {
		b.Skip("no commit to compare with: see make bench-against")
	}
	sides := map[string]*against{"now": newAgainst(b, ".."), "then": newAgainst(b, checkedOut(b, commit))}
	for name, s := range sides {
		b.ReportMetric(s.memory(b), name+"-start-MB")
	}
	for _, kind := range []string{"new", "repeated"} {
		b.Run("decide/"+kind, func(b *testing.B) { rates(b, sides, kind == "new") })
		b.Run("execute/"+kind, func(b *testing.B) { executions(b, sides, kind == "new") })
	}
}

// against is one side: a sidecar that runs, and how to ask it.
type against struct {
	*server
	n int
}

// checkedOut is a commit's tree.
func checkedOut(b *testing.B, commit string) string {
	tree := filepath.Join(b.TempDir(), "tree")
	mustRun(b, "git", "worktree", "add", "--detach", tree, commit)
	b.Cleanup(func() { mustRun(b, "git", "worktree", "remove", "--force", tree) })
	return tree
}

func newAgainst(b *testing.B, tree string) *against {
	folder, sockets := openDir(b), openDir(b)
	for _, program := range []string{"bailiff", "bailiff-runner"} {
		mustRun(b, "go", "build", "-C", tree, "-o", filepath.Join(folder, program), "./cmd/"+program)
	}
	policies := filepath.Join(folder, "policies")
	mustRun(b, "cp", "-r", filepath.Join(tree, "policies"), policies)
	mustRun(b, "chmod", "-R", "go-w", policies)
	config := filepath.Join(folder, "bailiff.yaml")
	must(b, os.WriteFile(config, fmt.Appendf(nil, `state_dir: %s/state
agent: {listeners: [{name: test, listen: "unix://%[2]s/a.sock"}]}
operator: {listen: "unix://%[2]s/o.sock"}
metrics: {listen: ""}
policies: {paths: [policies]}
backends: {bubblewrap: {}}
`, folder, sockets), 0o600))
	req := inChat("bench", "cd src && go test ./... -run "+mark+" | tee out.txt")
	body, err := json.Marshal(req)
	must(b, err)
	return &against{server: start(b, sockets+"/a.sock", "/v1/decide", body, filepath.Join(folder, "bailiff"), "serve", "--config", config)}
}

var resident = regexp.MustCompile(`VmRSS:\s+(\d+)`)

// memory is what the process has in memory five seconds after its start, in MB.
func (a *against) memory(b *testing.B) float64 {
	time.Sleep(5 * time.Second)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.pid))
	must(b, err)
	kilobytes, err := strconv.Atoi(string(resident.FindSubmatch(text)[1]))
	must(b, err)
	return float64(kilobytes) / 1024
}

// rates are requests a second of eight clients.
func rates(b *testing.B, sides map[string]*against, fresh bool) {
	for _, s := range sides {
		s.name = func(n int64) string { return strconv.FormatInt(n, 10) }
		if !fresh {
			s.name = func(int64) string { return "0" }
		}
		s.round(b)
		s.reset()
	}
	for b.Loop() {
		for _, s := range sides {
			s.round(b)
		}
	}
	for name, s := range sides {
		b.ReportMetric(s.rate(), name+"-req/s")
		b.ReportMetric(float64(s.percentile(99).Microseconds())/1000, name+"-p99-ms")
	}
	b.ReportMetric(sides["now"].rate()/sides["then"].rate(), "now/then")
}

// executions are commands that do nothing in a warm sandbox.
func executions(b *testing.B, sides map[string]*against, fresh bool) {
	runs := map[string]func(){"host": func() { mustRun(b, "bash", "--noprofile", "--norc", "-c", "true") }}
	for name, s := range sides {
		runs[name] = func() { s.execute(b, fresh) }
		s.execute(b, fresh)
	}
	took := takeTurns(b, runs)
	for name, all := range took {
		b.ReportMetric(float64(median(all).Microseconds())/1000, name+"-ms")
	}
	for name := range sides {
		b.ReportMetric(float64(median(took[name]))/float64(median(took["host"])), name+"/host")
	}
}

func (a *against) execute(b *testing.B, fresh bool) {
	text := "true"
	if fresh {
		a.n++
		text = fmt.Sprintf("true # %d", a.n)
	}
	body, err := json.Marshal(inChat("bench", text))
	must(b, err)
	resp, err := a.client.Post("http://x/v1/execute", "application/json", bytes.NewReader(body))
	must(b, err)
	defer func() { _ = resp.Body.Close() }()
	if answer, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(answer), `"status":"completed"`) {
		b.Fatalf("answered %s %v", answer, err)
	}
}
