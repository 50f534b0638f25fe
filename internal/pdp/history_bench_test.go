package pdp

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// historyOf is a history of so many facts.
func historyOf(facts int) *bailiff.SessionHistory {
	at := time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	f := &bailiff.SessionFacts{Findings: map[string]int{}}
	for n := range facts {
		f.Files = append(f.Files, bailiff.FileFact{Path: fmt.Sprintf("/workspace/brought-%d.sh", n), SHA256: fmt.Sprintf("%064d", n),
			How: bailiff.Downloaded, At: at})
	}
	return &bailiff.SessionHistory{Complete: true, SessionFacts: f, User: &bailiff.SessionHistory{Complete: true, SessionFacts: f}}
}

// What a history adds to a judgement that is made and to one that is remembered.
func BenchmarkHistory(b *testing.B) {
	p, serial := openShipped(b), time.Now().UnixNano() // no text comes twice, in another run either
	for _, facts := range []int{0, 1000} {
		at := ready
		at.History = historyOf(facts)
		b.Run(fmt.Sprintf("new/%d", facts), func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				req := listing
				serial++
				req.Args.Command = fmt.Sprintf("sh build-%d.sh && git status && curl https://example.com/%d", serial, serial)
				at.History.Requests.Minute = n // as each request has others
				p.Decide(context.Background(), req, at)
			}
		})
		b.Run(fmt.Sprintf("repeated/%d", facts), func(b *testing.B) {
			req := listing
			req.Args.Command = "sh build.sh && git status"
			for n := 0; b.Loop(); n++ {
				at.History.Requests.Minute = n
				p.Decide(context.Background(), req, at)
			}
		})
	}
}
