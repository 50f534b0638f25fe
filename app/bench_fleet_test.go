package app

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// BenchmarkFleet times "true" in a warm sandbox at a sidecar alone, at its session's home among
// others, and sent there by another sidecar, without and with request ids. The sides take turns.
func BenchmarkFleet(b *testing.B) {
	c := openDepot(b)
	alone := startOffice(b, openDir(b), onePerson(b, "backends: {bubblewrap: {}}", keepNoneReady))
	home, door := c.start(b, "one"), c.start(b, "two")
	for _, s := range []*office{alone, home, door} {
		mustComplete(b, s.agent, inChat("bench", "true"))
	}
	n := 0
	plain := func(s *office) func() {
		send := s.poster()
		return func() { send(b, inChat("bench", "true")) }
	}
	named := func(s *office) func() {
		send := s.poster()
		return func() {
			n++
			send(b, withID(inChat("bench", "true"), fmt.Sprint("r", n)))
		}
	}
	report(b, takeTurns(b, map[string]func(){
		"alone": plain(alone), "home": plain(home), "forwarded": plain(door), "alone-id": named(alone), "home-id": named(home),
	}))
}

// BenchmarkFleetMemory compares a sidecar alone with one among others, both idle: what each has in memory that nothing
// else could use (anonymous), and with the parts of its program that are mapped (resident).
func BenchmarkFleetMemory(b *testing.B) {
	c := openDepot(b)
	alone := launch(b, openDir(b), onePerson(b, "backends: {bubblewrap: {}}", keepNoneReady))
	alone.awaitServing(b)
	member := c.launch(b, "one")
	for b.Loop() {
		time.Sleep(5 * time.Second) // until what the start took is given back
		for _, kind := range []string{"RssAnon", "VmRSS"} {
			without, with := alone.kilobytes(b, kind), member.kilobytes(b, kind)
			b.ReportMetric(without/1024, "alone-"+kind+"-MB")
			b.ReportMetric(with/1024, "member-"+kind+"-MB")
			b.ReportMetric(with/without, "member/alone-"+kind)
		}
	}
}

// kilobytes is a figure of the kernel's about a process.
func (p *process) kilobytes(tb testing.TB, kind string) float64 {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	must(tb, err)
	_, rest, _ := strings.Cut(string(text), kind+":")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	must(tb, err)
	return float64(n)
}

// What is judged, and what runs without an id, asks no database once the session has its home.
func TestWhatIsJudgedOrAllowedAsksNoDatabase(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	c.server.Exec(t, "bailiff", "CREATE EXTENSION pg_stat_statements")
	home, door := c.start(t, "one"), c.start(t, "two")
	ask := func(req bailiff.Request) {
		text, err := json.Marshal(req)
		must(t, err)
		for _, s := range []*office{home, door} {
			mustComplete(t, s.agent, req)
			if _, err := s.agent.Decide(t.Context(), text); err != nil {
				t.Error(err)
			}
		}
	}
	ask(inChat("s1", "true"))
	const steps = "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query NOT LIKE 'DELETE%' AND " +
		"(query LIKE '%bailiff.homes%' OR query LIKE '%bailiff.requests%' OR query LIKE '%pg_advisory_xact_lock%')"
	before := c.server.Number(t, "bailiff", steps)
	for range 20 {
		ask(inChat("s1", "true"))
	}
	if after := c.server.Number(t, "bailiff", steps); before == 0 || after != before {
		t.Errorf("80 requests after the first asked the database %d times, the first %d times", after-before, before)
	}
	ask(withID(inChat("s1", "true"), "r1"))
	if c.server.Number(t, "bailiff", steps) == before {
		t.Error("a request with an id did not")
	}
}
