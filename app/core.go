package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/enforcer/budget"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/past"
	"github.com/bailiff-dev/bailiff/enforcer/requesters"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/fleet/peers"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/judging/bundle"
	"github.com/bailiff-dev/bailiff/internal/judging/history"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/network/egress"
	"github.com/bailiff-dev/bailiff/internal/network/throttle"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/project/caches"
	"github.com/bailiff-dev/bailiff/internal/project/snapshot"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/record/outage"
	reports "github.com/bailiff-dev/bailiff/internal/record/report"
	"github.com/bailiff-dev/bailiff/internal/record/traces"
	"github.com/bailiff-dev/bailiff/internal/secrets/env"
	"github.com/bailiff-dev/bailiff/internal/secrets/redact"
	"github.com/bailiff-dev/bailiff/metrics"
)

// core is the sidecar without its listeners: everything from a request to its
// answer, wired as the configuration says.
type core struct {
	cfg         *config.Config
	log         *slog.Logger
	version     string
	testCommand func(context.Context) *exec.Cmd // see [Config.TestCommand]
	memory      *memory                         // nil where the process is not the sidecar's alone
	metrics     *metrics.Metrics
	egress      egressTotals
	page        http.Handler // of the metrics
	history     *history.History
	past        *past.Store    // of sessions
	source      *bundle.Source // of the policies; nil where they are files
	policies    *pdp.PDP
	variables   *env.Sources
	personal    *env.Personal    // of each person apart
	scrubber    *redact.Scrubber // of what is kept and shown
	decisions   *audit.Log
	reports     *reports.Keeper
	exporters   exporters      // none if the decision log is sent nowhere
	tracer      *traces.Tracer // nil if traces are sent nowhere
	shadow      *shadow        // nil if there is none
	backends    map[string]backends.Backend
	roster      roster
	approvals   *approval.Book
	database    *postgres.DB // that sidecars share; nil if there is none
	fleet       fleetParts
	front       peers.Local // takes requests from agents: the enforcer, or what finds that of their session
	halts       atomic.Bool // the enforcer is there
	ledger      *ledger.Ledger
	caches      *caches.Caches
	snapshots   *snapshot.Store // nil where there can be none
	noUndo      error           // why
	throttle    *throttle.Throttle
	proxy       *egress.Proxy   // by which sandboxes leave
	refusals    *egress.Sparing // by which what they are refused comes to the log
	enforcer    *enforcer.Enforcer
	reloaded    chan struct{} // holds one signal while what is live is to be judged by new policies
	mcp         mcpParts
	probes      *probes       // nil if there is no page
	awaited     outage.Outage // what the start waits for
	release     func() error  // of the state folder
}

// newCore takes the state folder and loads everything; any fault is fatal.
func newCore(ctx context.Context, cfg *config.Config, log *slog.Logger, of Config) (*core, error) {
	release, err := audit.LockState(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	c := &core{cfg: cfg, log: log, version: of.Version, testCommand: of.TestCommand, memory: memoryOf(of), release: release,
		caches: caches.New(filepath.Join(cfg.StateDir, "caches")), reloaded: make(chan struct{}, 1),
		reports: reports.NewKeeper(cfg.StateDir)}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.releaseAll())
	}
	c.halts.Store(true)
	c.enforcer.Limit(lease.Bounds(cfg.Limits.Sandboxes))
	c.enforcer.Warm(lease.Warm(cfg.Limits.Warm))
	c.enforcer.Hold(hold(cfg.Egress))
	return c, nil
}

// open opens all that works together in the enforcer, and what asks people for it.
func (c *core) open(ctx context.Context) error {
	if err := c.load(ctx); err != nil {
		return err
	}
	if err := c.openFleet(ctx); err != nil {
		return err
	}
	wayOut, err := c.newWayOut()
	if err != nil {
		return err
	}
	parts := enforcer.Config{
		Repositories: c.newRepositories(), Caches: c.caches,
		Decider: c.policies, Recorder: c.recorder(), Environ: c.variables, Observer: c.metrics, Sandboxes: c.metrics,
		Readiness: c.metrics,
		Approvals: enforcerApprovals{c.approvals}, Freezer: enforcerApprovals{c.approvals}, Throttle: c.throttle,
		Ledger: c.ledger.Sandboxes, Workspaces: c.ledger.Workspaces, Projects: c.ledger.Projects,
		Backends: c.backends, Credentials: c.cfg.Credentials(), Owner: owner(c.cfg), CheckOwner: c.checkOwner, Tracer: c.enforcerTracer(),
		Claims: c.claims(), Homes: c.homes(), Unfinished: unfinishedRequests(c.decisions), WayOut: wayOut, Log: c.log,
		KeptAside: filepath.Join(c.cfg.StateDir, "kept-aside.json"), People: requesters.People{Roster: &c.roster, Own: c.personal},
	}
	if c.snapshots != nil {
		parts.Snapshots = c.snapshots
	}
	if c.past, err = past.Open(past.Config{Dir: filepath.Join(c.cfg.StateDir, "session-histories"), Scrub: c.scrubber.Scrub,
		Damaged: c.metrics.HistoryDamaged, Log: c.log}); err != nil {
		return err
	}
	parts.History = c.past
	if parts.Budgets, err = budget.Open(budget.Config{Dir: filepath.Join(c.cfg.StateDir, "budgets"), Damaged: c.metrics.BudgetDamaged,
		Log: c.log}); err != nil {
		return err
	}
	if c.enforcer, err = enforcer.New(parts); err != nil {
		return err
	}
	if err := c.openMCP(); err != nil {
		return err
	}
	return c.openRouter()
}

// load opens what the enforcer needs, in the order in which each needs the other.
func (c *core) load(ctx context.Context) (err error) {
	if c.variables, err = offline.OpenVariables(c.cfg); err != nil {
		return err
	}
	if c.personal, err = offline.OpenPersonal(c.cfg); err != nil {
		return err
	}
	if c.backends, err = c.newBackends(); err != nil {
		return err
	}
	c.scrubber = redact.NewScrubber(env.All{Shared: c.variables, Personal: c.personal})
	registry := metrics.NewRegistry()
	c.page = metrics.Handler(registry)
	c.metrics = metrics.New(registry, metrics.Config{Version: c.version, Backends: names(c.backends), TraceOf: traces.TraceID})
	for name, section := range c.cfg.Backends {
		if waived, _ := backends.ListOf(section, "accept_missing_limits"); waived != nil {
			c.metrics.LimitsWaived(name, *waived)
		}
	}
	c.updateListenerLabels()
	c.throttle = throttle.New(throttle.Shares(c.cfg.Limits.RequestsPerMinute), c.metrics)
	if err := c.openTraces(); err != nil {
		return err
	}
	if err := c.openLog(); err != nil {
		return err
	}
	if c.history, err = history.Open(offline.PoliciesDir(c.cfg), c.log); err != nil {
		return err
	}
	if err = c.openPolicies(ctx); err != nil {
		return err
	}
	c.updateTableLabels(ctx) // before anything is counted by them
	c.logObserved(ctx)
	c.startShadow(ctx)
	if c.ledger, err = ledger.Open(ledger.Config{StateDir: c.cfg.StateDir, Scrub: c.scrubber.Scrub, Log: c.log}); err != nil {
		return err
	}
	c.openSnapshots()
	return c.openApprovals(ctx)
}

// close stops what runs, first with patience, and leaves nothing open.
func (c *core) close(patience context.Context) error {
	c.enforcer.Close(patience)
	return c.releaseAll()
}

// releaseAll gives up what newCore has opened so far.
func (c *core) releaseAll() error {
	var err error
	if c.fleet.stop != nil {
		c.fleet.stop() // before others may take over what this sidecar served
	}
	if c.approvals != nil {
		err = c.approvals.Close()
	}
	if c.fleet.router != nil {
		c.fleet.router.Close()
	}
	if c.database != nil {
		c.database.Close()
	}
	if c.shadow != nil {
		c.shadow.Close()
	}
	if c.tracer != nil {
		c.tracer.Close()
	}
	if c.refusals != nil {
		c.refusals.Flush()
	}
	if c.snapshots != nil {
		c.snapshots.Close()
	}
	if c.decisions != nil {
		err = errors.Join(err, c.decisions.Close())
	}
	if c.probes != nil {
		err = errors.Join(err, c.probes.close())
	}
	return errors.Join(err, closeBackends(c.backends), c.release())
}

// signal has what is live judged anew soon.
func (c *core) signal() {
	select {
	case c.reloaded <- struct{}{}:
	default:
	}
}

// updateTableLabels lets the names in the policies' tables be labels.
func (c *core) updateTableLabels(ctx context.Context) {
	c.metrics.Known(tableNames(ctx, c.policies, "platforms"), tableNames(ctx, c.policies, "env"))
}

// updateListenerLabels lets the names of the agents' listeners be labels.
func (c *core) updateListenerLabels() {
	var names []string
	for _, l := range c.cfg.Agent.Listeners {
		names = append(names, l.Name)
	}
	c.metrics.Listeners(names)
}

// tableNames lists what one of the policies' tables names.
func tableNames(ctx context.Context, policies *pdp.PDP, table string) []string {
	found, _, err := policies.Query(ctx, bailiff.Request{}, bailiff.Circumstances{}, "bailiff/tables/"+table)
	entries, ok := found.(map[string]any)
	if err != nil || !ok {
		return nil
	}
	return names(entries)
}

// owner names this sidecar among others that use the same engine. Sidecars of a fleet may have
// their state in folders of the same path.
func owner(cfg *config.Config) string {
	name := cfg.StateDir
	if cfg.Store.Postgres.DSN.IsSet() {
		name = "replica " + cfg.Store.Replica
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// names returns the keys of a map, sorted.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
