package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
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
	trees := map[string]string{"now": builtOf(b, ".."), "then": builtOf(b, checkedOut(b, commit))}
	b.Run("start", func(b *testing.B) { starts(b, trees) })
	for _, backend := range []string{"bubblewrap", "docker"} {
		b.Run(backend, func(b *testing.B) { comparedOn(b, trees, backend) })
	}
}

// comparedOn compares sidecars that have one backend.
func comparedOn(b *testing.B, trees map[string]string, backend string) {
	sides := map[string]*against{}
	for name, folder := range trees {
		sides[name] = newAgainst(b, folder, backend)
	}
	b.Run("memory", func(b *testing.B) { memories(b, sides) })
	for _, kind := range []string{"new", "repeated"} {
		if backend == "bubblewrap" { // which the rate of decisions does not depend on
			b.Run("decide/"+kind, func(b *testing.B) { rates(b, sides, kind == "new") })
		}
		b.Run("execute/"+kind, func(b *testing.B) { executions(b, sides, 1, kind == "new") })
	}
	b.Run("execute/16-at-a-time", func(b *testing.B) { executions(b, sides, 16, false) })
}

// against is one side: a sidecar that runs, and how to ask it.
type against struct {
	*server
	n atomic.Int64
}

// checkedOut is a commit's tree.
func checkedOut(b *testing.B, commit string) string {
	tree := filepath.Join(b.TempDir(), "tree")
	mustRun(b, "git", "worktree", "add", "--detach", tree, commit)
	b.Cleanup(func() { mustRun(b, "git", "worktree", "remove", "--force", tree) })
	return tree
}

// builtOf is a folder with a tree's programs and policies.
func builtOf(tb testing.TB, tree string) string {
	folder := openDir(tb)
	buildPrograms(tb, tree, folder)
	policies := filepath.Join(folder, "policies")
	mustRun(tb, "cp", "-r", filepath.Join(tree, "policies"), policies)
	mustRun(tb, "chmod", "-R", "go-w", policies)
	return folder
}

// configured writes a configuration, and tells where it is and the socket of agents.
func configured(b *testing.B, folder, backend string) (config, socket string) {
	sockets := openDir(b)
	return benchConfig(b, openDir(b), sockets, "", noMetrics, "policies: {paths: ["+folder+"/policies]}",
		fmt.Sprintf("backends: {%s: {%s}}", backend, imageOf(backend))), sockets + "/a.sock"
}

func newAgainst(b *testing.B, folder, backend string) *against {
	config, socket := configured(b, folder, backend)
	req := inChat("bench", "cd src && go test ./... -run "+mark+" | tee out.txt")
	body, err := json.Marshal(req)
	must(b, err)
	s := start(b, socket, "/v1/decide", body, filepath.Join(folder, "bailiff"), "serve", "--config", config)
	return &against{server: s}
}

// starts are how long "bailiff decide" takes from its start to its answer, by the policies that are built in and by those of the
// folder, and how long the tests of the policies take.
func starts(b *testing.B, trees map[string]string) {
	runs := map[string]func(){}
	for name, folder := range trees {
		config, _ := configured(b, folder, "bubblewrap")
		bailiff := filepath.Join(folder, "bailiff")
		own := filepath.Join(filepath.Dir(config), "own.yaml")
		must(b, os.WriteFile(own, []byte("state_dir: "+filepath.Dir(config)+"/own\nbackends: {bubblewrap: {}}\n"), 0o600))
		runs[name+"-decide"] = func() { mustRun(b, bailiff, "decide", "--config", own, "--platform", "telegram", "--", "true") }
		runs[name+"-decide-by-folder"] = func() {
			mustRun(b, bailiff, "decide", "--config", config, "--platform", "telegram", "--", "true")
		}
		runs[name+"-policies-test"] = func() { mustRun(b, bailiff, "test", filepath.Join(folder, "policies")) }
	}
	for name, all := range takeTurns(b, runs) {
		b.ReportMetric(float64(median(all).Microseconds())/1000, name+"-ms")
	}
}

// memories are what the sides have in memory five seconds after their start, and 20 s after 300 requests; and how long they took
// to start.
func memories(b *testing.B, sides map[string]*against) {
	time.Sleep(5 * time.Second)
	for name, s := range sides {
		b.ReportMetric(s.memory(b), name+"-start-MB")
		b.ReportMetric(float64(s.ready.Milliseconds()), name+"-serve-ready-ms")
	}
	for _, s := range sides {
		for range 300 {
			s.execute(b, true)
		}
	}
	time.Sleep(20 * time.Second)
	for name, s := range sides {
		b.ReportMetric(s.memory(b), name+"-300-requests-MB")
	}
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

// executions are commands that do nothing in a warm sandbox, so many at a time.
func executions(b *testing.B, sides map[string]*against, atATime int, fresh bool) {
	runs := map[string]func(){"host": together(atATime, func() { mustRun(b, "bash", "--noprofile", "--norc", "-c", "true") })}
	for name, s := range sides {
		runs[name] = together(atATime, func() { s.execute(b, fresh) })
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

// together runs so many of one thing at the same time.
func together(many int, one func()) func() {
	return func() {
		var all sync.WaitGroup
		for range many {
			all.Go(one)
		}
		all.Wait()
	}
}

func (a *against) execute(b *testing.B, fresh bool) {
	text := "true"
	if fresh {
		text = fmt.Sprintf("true # %d", a.n.Add(1))
	}
	body, err := json.Marshal(inChat("bench", text))
	must(b, err)
	a.post(b, "/v1/execute", body, `"status":"completed"`)
}
