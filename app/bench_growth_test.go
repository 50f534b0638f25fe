package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/audit"
)

// BenchmarkGrowth tells how a sidecar's start, its memory and a new judgement depend on what it keeps: sessions, questions that
// wait, policy files of a team, and the decision log. With the policies of this tree in a folder, as users have them.
func BenchmarkGrowth(b *testing.B) {
	programs := builtOf(b, "..")
	for _, kept := range []struct {
		name  string
		sizes []int
		grow  func(b *testing.B, g growing, size int) *server
	}{
		{"sessions", []int{10, 1_000, 10_000}, sessions},
		{"questions", []int{10, 1_000, 10_000}, questions},
		{"policy-files", []int{1, 50, 200}, policyFiles},
		{"log-megabytes", []int{10, 1_000, 10_000}, logged},
	} {
		for _, size := range kept.sizes {
			b.Run(fmt.Sprintf("%s/%d", kept.name, size), func(b *testing.B) {
				if size == 10_000 && kept.name == "log-megabytes" && os.Getenv("BAILIFF_TEST_ALL") == "" {
					b.Skip("ten gigabytes are written only with BAILIFF_TEST_ALL")
				}
				measured(b, kept.grow(b, newGrowing(b, programs), size))
			})
		}
	}
}

// growing is a sidecar that was not started yet.
type growing struct{ programs, state, sockets string }

func newGrowing(tb testing.TB, programs string) growing {
	return growing{programs: programs, state: openDir(tb), sockets: openDir(tb)}
}

// asked is a request of a user who has that one session.
func asked(tb testing.TB, session, command string) []byte {
	req := inChat(session, command)
	req.Session.UserID = session // of which one has no more than a few questions
	body, err := json.Marshal(req)
	must(tb, err)
	return body
}

func (g growing) agents() string    { return g.sockets + "/a.sock" }
func (g growing) operators() string { return "unix://" + g.sockets + "/o.sock" }

// start starts it with the policies of a folder, and metrics at an address if there is one.
func (g growing) start(tb testing.TB, policies, metrics string) *server {
	config := filepath.Join(g.state, "bailiff.yaml")
	must(tb, os.WriteFile(config, fmt.Appendf(nil, `state_dir: %s/state
agent: {listeners: [{name: test, listen: "unix://%s"}]}
operator: {listen: "%s", allow_same_user: true}
people: [{name: ana, uids: [%d]}]
limits: {pending_approvals: {caller: 10000}}
metrics: {listen: "%s"}
policies: {paths: [%s]}
backends: {bubblewrap: {}}
`, g.state, g.agents(), g.operators(), os.Getuid(), metrics, policies), 0o600))
	s := start(tb, g.agents(), "/v1/decide", asked(tb, "measured", "ls -la d"+mark), filepath.Join(g.programs, "bailiff"),
		"serve", "--config", config)
	s.name = func(n int64) string { return strconv.FormatInt(n, 10) }
	return s
}

// timed starts it, and tells how long it took to be ready.
func (g growing) timed(b *testing.B, policies string) *server {
	began := time.Now()
	s := g.start(b, policies, "")
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "start-ms")
	return s
}

func (g growing) shipped() string { return filepath.Join(g.programs, "policies") }

// asking are the shipped policies with a rule that asks about what is marked.
func (g growing) asking(tb testing.TB) string {
	return g.with(tb, map[string]string{"asking.rego": houseAsksAboutMarked})
}

// with are the shipped policies with files of the house.
func (g growing) with(tb testing.TB, files map[string]string) string {
	policies := filepath.Join(g.state, "policies")
	mustRun(tb, "cp", "-r", g.shipped(), policies)
	for name, text := range files {
		must(tb, os.WriteFile(filepath.Join(policies, name), []byte("package bailiff\n"+text), 0o600))
	}
	return policies
}

// measured is a sidecar that has grown.
func measured(b *testing.B, s *server) {
	s.round(b)
	s.reset()
	for b.Loop() {
		s.round(b)
	}
	b.ReportMetric(float64(s.percentile(50).Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(s.percentile(99).Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(s.cost().Microseconds())/1000, "processor-ms")
	b.ReportMetric(s.memory(b), "MB")
}

func sessions(b *testing.B, g growing, size int) *server {
	s := g.timed(b, g.shipped())
	divided(size, func(n int) { s.post(b, "/v1/decide", asked(b, fmt.Sprint("s", n), "ls"), `"outcome":"allow"`) })
	return s
}

// questions are asked by as many users, and not answered.
func questions(b *testing.B, g growing, size int) *server {
	s := g.timed(b, g.asking(b))
	divided(size, func(n int) {
		s.post(b, "/v1/execute", asked(b, fmt.Sprint("q", n), "true # marked"), `"status":"approval_required"`)
	})
	return s
}

// divided does something for each number below a size, as many at a time as there are clients.
func divided(size int, do func(n int)) {
	var clients sync.WaitGroup
	for client := range benchClients {
		clients.Go(func() {
			for n := client; n < size; n += benchClients {
				do(n)
			}
		})
	}
	clients.Wait()
}

// policyFiles are a team's, each with a rule of its own.
func policyFiles(b *testing.B, g growing, size int) *server {
	files := map[string]string{}
	for n := range size {
		files[fmt.Sprintf("team%d.rego", n)] = fmt.Sprintf(`
deny contains {"rule": "team.rule%[1]d", "message": "We do not use program %[1]d."} if {
	input.session.platform == "telegram"
	"program%[1]d" in input.command.programs
}
`, n)
	}
	return g.timed(b, g.with(b, files))
}

// logged is a decision log of so many megabytes.
func logged(b *testing.B, g growing, size int) *server {
	state := filepath.Join(g.state, "state")
	must(b, os.Mkdir(state, 0o700))
	log, err := audit.Open(audit.Config{StateDir: state, Scrub: func(text []byte) []byte { return text }})
	must(b, err)
	event := api.Event{Timestamp: time.Now(), Result: map[string]string{"text": strings.Repeat("x", 30_000)},
		Custom: api.Custom{Event: api.DecisionEvent, Session: "s"}}
	divided(size*1_000_000/30_000, func(n int) {
		one := event
		one.DecisionID = fmt.Sprint("d", n)
		if err := log.Record(b.Context(), one); err != nil {
			b.Error(err)
		}
	})
	log.Close()
	return g.timed(b, g.shipped())
}
