// Package fleet knows which of the sidecars that share a PostgreSQL does what: who serves a
// session ([Homes]), under which request ids something ran ([Requests]), who does what one
// does at a time ([Fleet.Duty]), which sandboxes each has ([Fleet.SandboxesOf]), and how far the decision log
// of each goes ([Heads]).
//
// Promised:
//
//   - A session has one home. Its home is believed only as long as this sidecar is heard by
//     PostgreSQL, and others take it over only after that has ended for three times as long.
//   - A request id is one sidecar's, once. Who cannot ask PostgreSQL is told so, and is not told
//     that an id is free.
//   - A home that is given away is the next sidecar's, or this one's again once it is started anew;
//     never both.
//   - What this sidecar remembers of its own homes is forgotten when it was silent for so long
//     that others may have taken them.
//   - Deadlines are by PostgreSQL's clock, or by this machine's from the moment before a word of
//     PostgreSQL's was asked for; two machines' clocks are never compared.
//
// Not here: approvals, freezes, and that a sidecar says that it lives (internal/approval); how
// sidecars speak with each other (internal/fleet/peers).
package fleet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff/internal/config/required"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
)

const (
	// deadAfter is how long a sidecar is silent before others do what was its own. It trusts
	// what it remembers for a third of that.
	deadAfter = 15 * time.Second
	// askTime is how long an answer of PostgreSQL is waited for.
	askTime = 2 * time.Second
	// tellEvery is how often a sidecar says what it is.
	tellEvery = 5 * time.Second
	// keepEvery is how often old rows are removed.
	keepEvery = time.Minute
)

// ErrStore is the kind of errors by which nothing is known of the other sidecars.
var ErrStore = errors.New("the store that sidecars share failed")

// Standing is how this sidecar is seen by the others.
type Standing struct {
	// Epoch is that of its name.
	Epoch int64
	// Silences counts how often it was not heard for so long that others may believe it dead.
	Silences uint64
	// Err is why it may be believed dead now.
	Err error
}

// Config is what a Fleet needs; every field but Address, Sandboxes and Living is required.
type Config struct {
	DB *postgres.DB
	// Replica is this sidecar's name.
	Replica string
	// Address is the host and port where the others reach it; without one it is no home of theirs.
	Address string
	// Revision is that of the policies in force.
	Revision func() string
	// Head is how far this sidecar's decision log goes.
	Head     func() LogHead
	Standing func() Standing
	// Sandboxes are those that this sidecar has now; it may be nil.
	Sandboxes func() []Sandbox
	// Living is told, every few seconds, how many sidecars live, this one among them; it may be nil.
	Living func(n int)
}

// Fleet is the sidecars that share a database, as one of them sees them.
type Fleet struct {
	config Config
	// leaving is set once this sidecar gives away what it serves.
	leaving atomic.Bool
}

// New returns the fleet, after telling it of this sidecar.
func New(ctx context.Context, c Config) (*Fleet, error) {
	err := required.Fields("fleet", map[string]bool{"DB": c.DB == nil, "Replica": c.Replica == "",
		"Revision": c.Revision == nil, "Head": c.Head == nil, "Standing": c.Standing == nil})
	if err != nil {
		return nil, err
	}
	f := &Fleet{config: c}
	return f, f.tell(ctx)
}

const (
	tellReplica = "UPDATE bailiff.replicas SET address = $3, revision = $4, sandboxes = $5 WHERE id = $1 AND epoch = $2"
	countLiving = "SELECT count(*) FROM bailiff.replicas WHERE id = $1 OR seen > clock_timestamp() - make_interval(secs => $2)"
	// A row that is gone must not be missed: a home lasts for longer than the files of its
	// session, a request id for longer than a request.
	forgetHomes    = "DELETE FROM bailiff.homes WHERE used < clock_timestamp() - interval '40 days'"
	forgetRequests = `DELETE FROM bailiff.requests WHERE at < clock_timestamp() - interval '10 minutes' AND
		(ended < clock_timestamp() - interval '10 minutes' OR at < clock_timestamp() - interval '2 days')`
)

// Run tells the others of this sidecar and removes what is old, until ctx ends.
func (f *Fleet) Run(ctx context.Context) {
	var kept time.Time
	for ctx.Err() == nil {
		// What fails here is tried again; that PostgreSQL is away is told by the book of approvals.
		_ = f.tell(ctx)
		if time.Since(kept) >= keepEvery {
			kept = time.Now()
			_ = f.keep(ctx)
		}
		pause(ctx, tellEvery)
	}
}

func (f *Fleet) tell(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	epoch, living, b := f.config.Standing().Epoch, 0, &pgx.Batch{}
	sandboxes, err := f.sandboxes()
	if err != nil {
		return err
	}
	b.Queue(tellReplica, f.config.Replica, epoch, f.config.Address, f.config.Revision(), sandboxes)
	head := f.config.Head()
	b.Queue(tellHead, head.Chain, f.config.Replica, epoch, head.Lines, head.Hash)
	b.Queue(countLiving, f.config.Replica, deadAfter.Seconds()).QueryRow(func(row pgx.Row) error { return row.Scan(&living) })
	if err := f.config.DB.Own().SendBatch(ctx, b).Close(); err != nil {
		return fault(err)
	}
	if f.config.Living != nil {
		f.config.Living(living)
	}
	return nil
}

func (f *Fleet) keep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	b := &pgx.Batch{}
	b.Queue(forgetHomes)
	b.Queue(forgetRequests)
	b.Queue(forgetHeads)
	return fault(f.config.DB.Own().SendBatch(ctx, b).Close())
}

// fault tells that an error is PostgreSQL's.
func fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: PostgreSQL: %w", ErrStore, postgres.WithoutAddress(err))
}

// Member is one of the sidecars.
type Member struct {
	ID, Address, Revision string
	// Silent is how long it has not been heard. Left says that it ended in order.
	Silent time.Duration
	Left   bool
	// Homes is how many sessions and users have their home there.
	Homes int
}

// Lives says whether others leave its sessions to it.
func (m Member) Lives() bool { return !m.Left && m.Silent < deadAfter }

const listMembers = `SELECT id, address, revision, seen = '-infinity',
	CASE WHEN seen = '-infinity' THEN 0 ELSE extract(epoch FROM clock_timestamp() - seen)::float8 END,
	(SELECT count(*) FROM bailiff.homes WHERE replica = id) FROM bailiff.replicas ORDER BY id`

// Members lists the sidecars, those that are gone too.
func (f *Fleet) Members(ctx context.Context) ([]Member, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	rows, err := f.config.DB.Own().Query(ctx, listMembers)
	if err != nil {
		return nil, fault(err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Member, err error) {
		var silent float64
		err = row.Scan(&m.ID, &m.Address, &m.Revision, &m.Left, &silent, &m.Homes)
		m.Silent = time.Duration(silent * float64(time.Second))
		return m, err
	})
	return all, fault(err)
}

// key stands for names in a table, with any values.
type key [16]byte

func keyOf(parts ...string) key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return key(sum[:16])
}
