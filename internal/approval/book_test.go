package approval

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

type anyone struct{}

func (anyone) Plan(bailiff.Claim) (Plan, error) {
	return Plan{Route: "r", Approvers: []string{"ana"}, Channels: []string{"operator"}, Quorum: 1, Timeout: time.Minute}, nil
}
func (anyone) May(Approver, bailiff.Claim, string) error { return nil }

type heard struct{ events chan bailiff.Event }

func (h heard) Record(_ context.Context, e bailiff.Event) error { h.events <- e; return nil }

func TestSmoke(t *testing.T) {
	path := filepath.Join(t.TempDir(), "approvals.db")
	h := heard{make(chan bailiff.Event, 100)}
	b, err := Open(Config{Path: path, Router: anyone{}, Recorder: h})
	if err != nil {
		t.Fatal(err)
	}
	c := bailiff.Claim{Request: bailiff.Request{Caller: "h", Session: bailiff.Session{ID: "s"}}, Decision: bailiff.Decision{Outcome: bailiff.Ask, Approval: &bailiff.ApprovalTerms{Scopes: []string{"once", "session"}, GrantSeconds: 10, Reasons: []bailiff.Reason{{Rule: "r", Match: "m"}}}}}
	ctx := t.Context()
	a, err := b.Ask(ctx, c)
	t.Log(a, err)
	e, err := b.Answer(ctx, a.ID, Approver{Person: "ana", Credential: "uid:1", Channel: "operator"}, Verdict{Approve: true})
	t.Log(e.Message, err)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b, err = Open(Config{Path: path, Router: anyone{}, Recorder: h})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a, ok, err := b.Redeem(ctx, c)
		t.Log(a, ok, err)
	}
	b.Close()
	for len(h.events) > 0 {
		t.Log((<-h.events).Custom.Message)
	}
}
