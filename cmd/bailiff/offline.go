package main

import (
	"context"
	"fmt"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/env"
	"github.com/bailiff-dev/bailiff/internal/history"
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

// rolledBack says that the sidecar judges by other policies than those of the
// configuration, or that nobody here knows; else it is empty.
func rolledBack(cfg *config.Config) string {
	word, err := history.Folder(policiesDir(cfg)).RolledBack()
	switch {
	case err != nil:
		return "whether the sidecar is rolled back to other policies than these is unknown: " + err.Error()
	case word != nil:
		return fmt.Sprintf("%s rolled the sidecar back to the policies %.12s; this is judged by those of the configuration", word.By, word.Revision)
	}
	return ""
}
