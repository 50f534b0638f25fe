package app

import (
	"fmt"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

const houseAsksAboutMarked = `
require_approval contains {"rule": "house.marked", "message": "It is marked.", "match": "marked"} if {
	contains(input.args.command, "marked")
}
`

// BenchmarkApproval times the way from an operator's yes to the end of the "true"
// that waited for it, over both sockets: from the moment the yes was sent, and
// from the one it was acknowledged, which is negative if the answer was faster.
func BenchmarkApproval(b *testing.B) {
	o := benchOffice(b)
	var sent, acknowledged []time.Duration
	for n := 0; b.Loop(); n++ {
		e := send(b.Context(), o.agent, waiting(inChat("bench", fmt.Sprint("true # marked ", n))))
		id := e.question(b)
		start := time.Now()
		told := make(chan time.Time, 1)
		go func() {
			mustApprove(b, o.operator, id, "")
			told <- time.Now()
		}()
		wants(b, e.end(b), bailiff.Completed, "")
		end := time.Now()
		sent, acknowledged = append(sent, end.Sub(start)), append(acknowledged, end.Sub(<-told))
	}
	b.ReportMetric(milliseconds(median(sent)), "from-sent-ms")
	b.ReportMetric(milliseconds(sent[len(sent)*95/100]), "from-sent-p95-ms")
	b.ReportMetric(milliseconds(median(acknowledged)), "from-acknowledged-ms")
}

// BenchmarkGranted compares a request that a session's grant covers with one that
// the policies allow. Both have a new text each time.
func BenchmarkGranted(b *testing.B) {
	o := benchOffice(b)
	e := send(b.Context(), o.agent, waiting(inChat("bench", "true # marked")))
	mustApprove(b, o.operator, e.question(b), bailiff.ScopeSession)
	wants(b, e.end(b), bailiff.Completed, "")
	post, n := o.poster(), 0
	with := func(word string) func() {
		return func() {
			n++
			post(b, inChat("bench", fmt.Sprintf("true # %s %d", word, n)))
		}
	}
	times := takeTurns(b, map[string]func(){"granted": with("marked"), "allowed": with("plain")})
	granted, allowed := median(times["granted"]), median(times["allowed"])
	b.ReportMetric(float64(granted.Microseconds()), "granted-µs")
	b.ReportMetric(float64(allowed.Microseconds()), "allowed-µs")
	b.ReportMetric(float64(granted)/float64(allowed), "granted/allowed")
}

func benchOffice(b *testing.B) *office {
	b.Helper()
	_, house := withHouse(b, houseAsksAboutMarked)
	o := startOffice(b, openDir(b), onePerson(b, house, "backends: {bubblewrap: {}}"))
	mustComplete(b, o.agent, inChat("bench", "true")) // which makes the sandbox
	return o
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
