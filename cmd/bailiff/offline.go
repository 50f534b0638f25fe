package main

import (
	"context"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/env"
	"github.com/bailiff-dev/bailiff/internal/ledger"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

// offline judges requests by the configured policies, with the floor under them, and
// without a sidecar.
type offline struct {
	policies  *pdp.PDP
	variables *env.Sources
	enforcer  *enforcer.Enforcer
}

func openOffline(ctx context.Context, cfg *config.Config) (offline, error) {
	policies, err := openLast(ctx, cfg)
	if err != nil {
		return offline{}, err
	}
	variables, err := openVariables(cfg)
	if err != nil {
		return offline{}, err
	}
	e, err := enforcer.New(enforcer.Config{Decider: policies, Recorder: nowhere{}, Environ: variables, Observer: nowhere{},
		Approvals: unasked{}, Freezer: unasked{}, Ledger: blank[ledger.Sandbox]{}, Workspaces: blank[ledger.Workspace]{}, Backends: planned(cfg.Backends), Credentials: cfg.Credentials(), Owner: offlineCaller})
	if err != nil {
		return offline{}, err
	}
	e.Probe(ctx)
	return offline{policies, variables, e}, nil
}

// offlineCaller is who asks where there is no listener.
const offlineCaller = "decide"

func (o offline) decide(ctx context.Context, req bailiff.Request) bailiff.Decision {
	req.Caller = offlineCaller
	return o.enforcer.Decide(ctx, req).Decision
}
