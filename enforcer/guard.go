package enforcer

import (
	"context"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/guard"
)

// Kept are the changes of protected files that were put back.
func (e *Enforcer) Kept() *guard.Guards { return e.guards }

// execInside runs what runs in a sandbox, and puts back what it changed of protected files.
func (e *Enforcer) execInside(ctx context.Context, g grant) answer {
	return e.around(ctx, g, e.execGuarded)
}

func (e *Enforcer) execGuarded(ctx context.Context, g grant) answer {
	w, err := e.guards.Begin(ctx, g.held.Lease(), g.Decision.Backend.Mounts, g.event.DecisionID)
	if err != nil {
		return e.noSandbox(ctx, g.Decision, err)
	}
	if g.located.Args.Background && g.located.Args.Server == "" {
		return e.background(ctx, g, w)
	}
	defer w.End() // also if it panics
	a := e.runInside(ctx, g)
	w.End()
	w.Tell(&a.Answer)
	return a
}

func (e *Enforcer) runInside(ctx context.Context, g grant) answer {
	if g.located.Tool == bailiff.ExecuteCode {
		return e.runCode(ctx, g)
	}
	if g.located.Args.Server != "" {
		return e.converse(ctx, g)
	}
	return e.run(ctx, g)
}
