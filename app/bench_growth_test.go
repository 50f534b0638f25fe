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
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// BenchmarkGrowth tells how a new judgement and the sidecar's memory, and where something is kept its start, depend on how many
// sessions it has judged, how many questions wait, how many policy files a team has, and how long the decision log is; with the
// policies of this tree in a folder, as users have them.
func BenchmarkGrowth(b *testing.B) {
	programs := builtOf(b, "..")
	for _, of := range []struct {
		name  string
		sizes []int
		grown func(b *testing.B, s sidecarOfBench, size int) *server
	}{
		{"sessions", []int{10, 1_000, 10_000}, withSessions},
		{"questions", []int{10, 1_000, 10_000}, withQuestions},
		{"policy-files", []int{1, 50, 200}, withPolicyFiles},
		{"log-megabytes", []int{10, 100, 1_000, 10_000}, withLog},
	} {
		for _, size := range of.sizes {
			b.Run(fmt.Sprintf("%s/%d", of.name, size), func(b *testing.B) {
				if of.name == "log-megabytes" && size > 100 && os.Getenv("BAILIFF_TEST_ALL") == "" {
					b.Skip("so long a log is written only with BAILIFF_TEST_ALL")
				}
				reportJudgements(b, of.grown(b, newSidecarOfBench(b, programs), size))
			})
		}
	}
}

// sidecarOfBench is a sidecar that was not started yet: the folders of the programs, of its state and of its sockets.
type sidecarOfBench struct{ programs, state, sockets string }

func newSidecarOfBench(tb testing.TB, programs string) sidecarOfBench {
	return sidecarOfBench{programs: programs, state: openDir(tb), sockets: openDir(tb)}
}

// requestOf is a request of a user who has that one session.
func requestOf(tb testing.TB, session, command string) []byte {
	req := inChat(session, command)
	req.Session.UserID = session // of which one has no more than a few questions
	body, err := json.Marshal(req)
	must(tb, err)
	return body
}

func (s sidecarOfBench) agents() string    { return s.sockets + "/a.sock" }
func (s sidecarOfBench) operators() string { return "unix://" + s.sockets + "/o.sock" }

// start starts it with the policies of a folder.
func (s sidecarOfBench) start(tb testing.TB, policies, metrics string) *server {
	config := benchConfig(tb, s.state, s.sockets, ", allow_same_user: true", metrics, "policies: {paths: ["+policies+"]}",
		fmt.Sprintf("people: [{name: ana, uids: [%d]}]", os.Getuid()), "limits: {pending_approvals: {caller: 10000}}",
		"backends: {bubblewrap: {}}")
	started := start(tb, s.agents(), "/v1/decide", requestOf(tb, "measured", "ls -la d"+mark),
		filepath.Join(s.programs, "bailiff"), "serve", "--config", config)
	started.name = func(n int64) string { return strconv.FormatInt(n, 10) }
	return started
}

func (s sidecarOfBench) shippedPolicies() string { return filepath.Join(s.programs, "policies") }

// askingPolicies are the shipped ones with a rule that asks about what is marked.
func (s sidecarOfBench) askingPolicies(tb testing.TB) string {
	return s.policiesWith(tb, map[string]string{"asking.rego": houseAsksAboutMarked})
}

// policiesWith are the shipped ones with a team's files beside them.
func (s sidecarOfBench) policiesWith(tb testing.TB, files map[string]string) string {
	policies := filepath.Join(s.state, "policies")
	mustRun(tb, "cp", "-r", s.shippedPolicies(), policies)
	for name, text := range files {
		must(tb, os.WriteFile(filepath.Join(policies, name), []byte("package bailiff\n"+text), 0o600))
	}
	return policies
}

// reportJudgements has all clients ask for new judgements.
func reportJudgements(b *testing.B, s *server) {
	s.round(b)
	s.reset()
	for b.Loop() {
		s.round(b)
	}
	b.ReportMetric(float64(s.percentile(50).Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(s.percentile(99).Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(s.cost().Microseconds())/1000, "processor-ms")
	b.ReportMetric(s.memory(b), "MB")
	b.ReportMetric(float64(s.ready.Milliseconds()), "start-ms")
}

// withSessions has judged a request of each of so many sessions, of which nothing is kept.
func withSessions(b *testing.B, s sidecarOfBench, size int) *server {
	started := s.start(b, s.shippedPolicies(), noMetrics)
	inParallel(size, func(n int) {
		started.post(b, "/v1/decide", requestOf(b, fmt.Sprint("s", n), "ls"), `"outcome":"allow"`)
	})
	return started
}

// withQuestions was started with so many questions that wait, each of another user.
func withQuestions(b *testing.B, s sidecarOfBench, size int) *server {
	policies := s.askingPolicies(b)
	started := s.start(b, policies, noMetrics)
	inParallel(size, func(n int) {
		started.post(b, "/v1/execute", requestOf(b, fmt.Sprint("q", n), "true # marked"), `"status":"approval_required"`)
	})
	started.stop()
	return s.start(b, policies, noMetrics)
}

// withPolicyFiles has a team's policy files, each with a rule of its own.
func withPolicyFiles(b *testing.B, s sidecarOfBench, size int) *server {
	files := map[string]string{}
	for n := range size {
		files[fmt.Sprintf("team%d.rego", n)] = fmt.Sprintf(`
deny contains {"rule": "team.rule%[1]d", "message": "We do not use program %[1]d."} if {
	input.session.platform == "telegram"
	"program%[1]d" in input.command.programs
}
`, n)
	}
	return s.start(b, s.policiesWith(b, files), noMetrics)
}

// withLog was started with a decision log of so many megabytes.
func withLog(b *testing.B, s sidecarOfBench, size int) *server {
	state := filepath.Join(s.state, "state")
	must(b, os.Mkdir(state, 0o700))
	log, err := audit.Open(audit.Config{StateDir: state, Scrub: func(text []byte) []byte { return text }})
	must(b, err)
	event := api.Event{Timestamp: time.Now(), Result: map[string]string{"text": strings.Repeat("x", 30_000)},
		Custom: api.Custom{Event: api.DecisionEvent, Session: "s"}}
	inParallel(size*1_000_000/30_000, func(n int) {
		one := event
		one.DecisionID = fmt.Sprint("d", n)
		if err := log.Record(b.Context(), one); err != nil {
			b.Error(err)
		}
	})
	log.Close()
	return s.start(b, s.shippedPolicies(), noMetrics)
}

// inParallel does something for each number below a size, as many at a time as there are clients.
func inParallel(size int, do func(n int)) {
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
