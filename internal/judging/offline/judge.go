// Package offline does what the configuration alone is enough for: it reads it, opens
// its policies and variables, and judges and explains requests without a sidecar. The
// sidecar starts by the same steps.
//
// What is promised: nothing is run, recorded or asked here.
package offline

import (
	"context"
	"fmt"
	"os"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/past"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/history"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/secrets/env"
	"github.com/bailiff-dev/bailiff/metrics"
)

// Judge judges requests by the configured policies, with the floor under them, and runs
// nothing.
type Judge struct {
	policies  *pdp.PDP
	variables *env.Sources
	enforcer  *enforcer.Enforcer
	backends  config.Backends
	egress    config.Egress
	// before is what sessions did before a request.
	before *bailiff.SessionHistory
	logins *logins
}

// Open opens the policies and variables of the configuration. Every configured backend counts as ready.
func Open(ctx context.Context, cfg *config.Config) (*Judge, error) {
	policies, err := OpenPolicies(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return Over(ctx, cfg, policies)
}

// Over is [Open] with policies that are open already.
func Over(ctx context.Context, cfg *config.Config, policies *pdp.PDP) (*Judge, error) {
	variables, err := OpenVariables(cfg)
	if err != nil {
		return nil, err
	}
	known := &logins{}
	asking, err := openPeople(cfg, known)
	if err != nil {
		return nil, err
	}
	before := bailiff.SessionHistory{Complete: true, SessionFacts: &bailiff.SessionFacts{}}
	counts := metrics.New(metrics.NewRegistry(), metrics.Config{})
	e, err := enforcer.New(enforcer.Config{Decider: policies, Recorder: nowhere{}, Environ: variables, Observer: counts,
		Sandboxes: counts, Readiness: counts,
		Approvals: unasked{}, Freezer: unasked{}, Ledger: blank[ledger.Sandbox]{}, Workspaces: blank[ledger.Workspace]{},
		Projects: blank[ledger.Project]{}, History: past.Fixed(&before), People: asking,
		Backends: plannedBackends(cfg.Backends), Credentials: cfg.Credentials(), Owner: caller})
	if err != nil {
		return nil, err
	}
	e.Probe(ctx)
	return &Judge{policies, variables, e, cfg.Backends, cfg.Egress, &before, known}, nil
}

// caller is the caller of a request where there is no listener.
const caller = "decide"

// Decide decides about a request.
func (j *Judge) Decide(ctx context.Context, req bailiff.Request) bailiff.Decision {
	req.Caller = caller
	if req.Peer == "" {
		req.Peer = bailiff.Credential(uint32(os.Getuid())) //nolint:gosec // a uid fits
	}
	return j.enforcer.Decide(ctx, req).Decision
}

// After has each request judged as if its session had done something before.
func (j *Judge) After(before *bailiff.SessionHistory) { *j.before = *before }

// TestWarning says that it is not known whether the policies pass what is required of them; else it is empty.
func (j *Judge) TestWarning() string {
	if j.policies.Tested() {
		return ""
	}
	return "whether these policies pass their checks is not known; a sidecar puts them in force only if they do: see bailiff check " +
		"and bailiff test"
}

// RolledBack says that the sidecar judges by other policies than those of the
// configuration, or that this is unknown; else it is empty.
func RolledBack(cfg *config.Config) string {
	word, err := history.Folder(PoliciesDir(cfg)).RolledBack()
	switch {
	case err != nil:
		return "whether the sidecar is rolled back to other policies than these is unknown: " + err.Error()
	case word != nil:
		return fmt.Sprintf("%s rolled the sidecar back to the policies %.12s; this is judged by those of the configuration",
			word.By, word.Revision)
	}
	return ""
}
