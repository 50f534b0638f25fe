package apptest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

// AskedAbout is a rule for [WithRules] by which commands that say so are asked about.
const AskedAbout = `
require_approval contains {"rule": "house.asks", "message": "It is asked about.", "match": "asked"} if {
	contains(input.args.command, "asked-about")
}
`

// Ask asks for a request that has to end as it should.
func (s *Sidecar) Ask(tb testing.TB, req bailiff.Request, want bailiff.Status) {
	tb.Helper()
	answer, err := s.Client(tb).Execute(tb.Context(), req, client.News{})
	if err != nil || answer.Status != want {
		tb.Fatalf("%s of %s ended as %q (%s), %v; want %q", req.Args.Command, req.Session.UserID, answer.Status, answer.Message, err, want)
	}
}

// Pending is a question that waits, once one does.
func (s *Sidecar) Pending(tb testing.TB) (id string) {
	tb.Helper()
	operators := s.Operators(tb)
	backendtest.Await(tb, "something is asked", func() bool {
		id = waiting(tb.Context(), operators)
		return id != ""
	})
	return id
}

// ApproveNext says yes, once, to the question that comes next, when it has been open for so
// long. If none comes, the request ends unanswered.
func (s *Sidecar) ApproveNext(tb testing.TB, open time.Duration) {
	tb.Helper()
	operators := s.Operators(tb)
	go func() {
		for ctx := tb.Context(); ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
			if id := waiting(ctx, operators); id != "" {
				time.Sleep(open)
				if _, err := operators.Approve(ctx, id, bailiff.ScopeOnce); err == nil {
					return
				}
			}
		}
	}()
}

// Busy awaits that so many requests run in sandboxes.
func (s *Sidecar) Busy(tb testing.TB, want int) {
	tb.Helper()
	operators := s.Operators(tb)
	backendtest.Await(tb, fmt.Sprintf("%d requests run", want), func() bool {
		list, err := operators.Sandboxes(tb.Context())
		users := 0
		for _, sandbox := range list {
			users += sandbox.Users
		}
		return err == nil && users == want
	})
}

// waiting is a question that waits now; empty if none does.
func waiting(ctx context.Context, operators *client.Client) (id string) {
	open, err := operators.Approvals(ctx, api.Query{State: bailiff.ApprovalPending})
	if err != nil || len(open.Approvals) == 0 {
		return ""
	}
	return open.Approvals[0].ID
}
