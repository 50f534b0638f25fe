package enforcer

import (
	"context"
	"log/slog"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/answers"
	"github.com/bailiff-dev/bailiff/enforcer/budget"
	"github.com/bailiff-dev/bailiff/enforcer/guard"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/past"
	"github.com/bailiff-dev/bailiff/enforcer/requesters"
	"github.com/bailiff-dev/bailiff/internal/config/required"
)

// Decider is the policy decision point.
type Decider interface {
	Decide(ctx context.Context, req bailiff.Request, at bailiff.Circumstances) bailiff.Judgement
}

// Recorder writes the decision log. Record returns nil once the event is on
// disk; Note queues it behind the others and does not wait. Err is why the log
// fails, until a later event is on disk.
type Recorder interface {
	Record(ctx context.Context, e api.Event) error
	Note(e api.Event)
	Err() error
}

// Environ holds the variables that may be forwarded.
type Environ interface {
	Available(names []string) []string
	Value(name string) (bailiff.Secret, bool)
}

// Approvals remember what humans were asked and what they granted. What
// they return as true or granted is on disk.
type Approvals interface {
	// Covered says whether grants would let a claim run; nothing is taken.
	Covered(c bailiff.Claim) bool
	// Redeem takes the grants that let a claim run; a grant for once is gone then.
	Redeem(ctx context.Context, c bailiff.Claim) (a bailiff.Approval, granted bool, err error)
	// Ask puts a claim to humans, or joins the same claim that already waits. One
	// that no approver could answer is expired at once.
	Ask(ctx context.Context, c bailiff.Claim) (bailiff.Approval, error)
	// Await returns an approval when it is answered, or as it is when ctx ends.
	Await(ctx context.Context, id string) bailiff.Approval
	// Void takes back what was approved and not used, if anything is left, and says
	// why.
	Void(ctx context.Context, id, reason string) error
	// Withdraw takes back what a session still asks people.
	Withdraw(ctx context.Context, caller, session string) error
}

// Repositories keep private git directories in step with the real ones.
type Repositories interface {
	lease.Repositories
	guard.Repositories
}

// Throttle keeps out, with one sentence, a client that brings too many requests.
type Throttle interface {
	Admit(req bailiff.Request) error
}

// Observer is told what becomes of requests, for metrics. What comes with a context is
// part of a request, if that is.
type Observer interface {
	// Decided is told of each decision that is in the log, or noted for it, and of a denial
	// that is told in place of one that could not be written. Unrecorded is told of a decision
	// that could not be written and on which the request would have run here.
	Decided(ctx context.Context, req bailiff.Request, d bailiff.Decision, took time.Duration)
	Unrecorded(ctx context.Context, req bailiff.Request, d bailiff.Decision, took time.Duration)
	Forwarded(names []string)
	Executed(ctx context.Context, tool bailiff.Tool, backend string, status bailiff.Status, took time.Duration)
	BreakGlassUsed()
	// PutBack is told of changes of protected files that were put back.
	PutBack(changes int)
}

// Config is what an Enforcer needs; every field but People, Credentials, History, Budgets, KeptAside, WayOut, Repositories, Caches,
// Snapshots, Tracer, Throttle, Claims, Homes, CheckOwner, Unfinished and Log is required.
type Config struct {
	Decider  Decider
	Recorder Recorder
	Environ  Environ
	// People are those whose requests come.
	People requesters.People
	// Observer is told of requests, Sandboxes of those, Readiness of the backends.
	Observer  Observer
	Sandboxes lease.Observer
	Readiness lease.BackendObserver
	// Approvals are where humans answer, Freezer is where they stop what runs.
	Approvals Approvals
	Freezer   lease.Freezer
	// Backends are the configured ones by the name that decisions use.
	Backends map[string]backends.Backend
	// Credentials are the variables from which the backends have theirs; they never
	// enter a sandbox.
	Credentials []string
	// For Owner and CheckOwner see [lease.Config].
	Owner      string
	CheckOwner func() error
	// Ledger is of the sandboxes that are leased.
	Ledger ledger.Entries[ledger.Sandbox]
	// Workspaces is of those that stay when their sandbox goes.
	Workspaces ledger.Entries[ledger.Workspace]
	// Projects is of those in which sessions change files on this machine.
	Projects ledger.Entries[ledger.Project]
	// History remembers what sessions did; nil means that it does so in memory only.
	History *past.Store
	// Budgets counts what is used of them; nil means that nothing is counted.
	Budgets *budget.Store
	// KeptAside is the file in which changes of protected files that were put back are remembered; empty if they are not.
	KeptAside string
	// WayOut serves the connections of sandboxes whose network is egress; nil means that
	// none is run.
	WayOut WayOut
	// Snapshots keep what commands change of folders of the host; nil means that nothing can be undone.
	Snapshots snapshots
	// Tracer follows requests; nil means that there are no traces.
	Tracer Tracer
	// Repositories keep git in sandboxes apart from the real git directories; nil means that it works on these.
	Repositories Repositories
	// Caches keep what tools of projects fetched and built; nil means that each sandbox begins without.
	Caches lease.Caches
	// Throttle bounds the requests that are executed; nil means no bound.
	Throttle Throttle
	// Claims are the request ids of all sidecars that share a store, Homes which of them serves a session;
	// both are nil where there is one.
	Claims answers.Claims
	Homes  lease.Homes
	// Unfinished are the requests that an earlier run started and whose end it
	// did not record, or recorded not long ago.
	Unfinished []answers.Unfinished
	Log        *slog.Logger
}

func (c Config) missing() error {
	return required.Fields("enforcer", map[string]bool{
		"Decider": c.Decider == nil, "Recorder": c.Recorder == nil, "Environ": c.Environ == nil, "Observer": c.Observer == nil,
		"Sandboxes": c.Sandboxes == nil, "Readiness": c.Readiness == nil,
		"Approvals": c.Approvals == nil, "Freezer": c.Freezer == nil, "Backends": c.Backends == nil, "Owner": c.Owner == "",
		"Ledger": c.Ledger == nil, "Workspaces": c.Workspaces == nil,
		"Projects": c.Projects == nil,
	})
}
