package enforcer

import (
	"context"
	"fmt"

	"github.com/bailiff-dev/bailiff"
)

// grant is the permission to run a request, and with it what its run needs. Whatever
// starts anything takes one, and [Enforcer.record] alone makes one; the zero grant
// permits nothing.
type grant struct {
	*judged
	// vouched says that it is humans who let the request run.
	vouched bool
}

// record writes a decision down. Only then, if the policies let the request run or
// grants of humans were redeemed for it, is there a grant.
func (e *Enforcer) record(ctx context.Context, m *judged, redeemed bool) (g grant, err error) {
	if err := e.config.Recorder.Record(ctx, m.recorded()); err != nil {
		e.config.Observer.Unrecorded(ctx, m.located, m.Decision, m.took)
		return g, fmt.Errorf("recording the decision: %w", err)
	}
	e.config.Observer.Decided(ctx, m.located, m.Decision, m.took)
	if m.Decision.Outcome == bailiff.Allow || redeemed {
		g = grant{m, redeemed || m.event.Custom.BreakGlass != nil}
	}
	return g, nil
}
