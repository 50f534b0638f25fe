package shared

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// freezeLock is what a step holds for reading, and one that changes freezes for writing: so no
// step goes by freezes that are being changed.
const freezeLock = 0x667265657a65 // "freeze"

// The statements of a step. Rows of others are changed only as they were loaded: by zero is
// divided where one is not, which ends the transaction.
const (
	selectItems  = "SELECT seq, version, doc FROM bailiff.approvals WHERE gone IS NULL AND "
	selectGrants = "SELECT version, doc FROM bailiff.grants WHERE gone IS NULL AND "
	insertItem   = `INSERT INTO bailiff.approvals (id, seq, pending, digest, caller, session, person, expires, resolved, version, doc)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10)`
	updateItem = `WITH done AS (UPDATE bailiff.approvals SET pending = $3, expires = $4, resolved = $5, doc = $6, version = version + 1,
		changed = pg_current_xact_id() WHERE id = $1 AND version = $2 AND gone IS NULL RETURNING 1) SELECT 1 / count(*) FROM done`
	insertClaim = "INSERT INTO bailiff.claims (seq, claim) VALUES ($1, $2)"
	insertGrant = `INSERT INTO bailiff.grants (id, approval, digest, owner, expires, version, doc) VALUES ($1, $2, $3, $4, $5, 1, $6)`
	updateGrant = `WITH done AS (UPDATE bailiff.grants SET expires = $3, doc = $4, version = version + 1,
		changed = pg_current_xact_id() WHERE id = $1 AND version = $2 AND gone IS NULL RETURNING 1) SELECT 1 / count(*) FROM done`
	endGrant = `WITH done AS (UPDATE bailiff.grants SET gone = clock_timestamp(), version = version + 1,
		changed = pg_current_xact_id() WHERE id = $1 AND version = $2 AND gone IS NULL RETURNING 1) SELECT 1 / count(*) FROM done`
	putFreeze = `INSERT INTO bailiff.freezes (key, doc) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET doc = excluded.doc, gone = NULL,
		changed = pg_current_xact_id()`
	endFreeze    = "UPDATE bailiff.freezes SET gone = clock_timestamp(), changed = pg_current_xact_id() WHERE key = $1"
	countFreezes = "UPDATE bailiff.state SET freezes = freezes + 1"
	insertEvent  = "INSERT INTO bailiff.outbox (replica, doc) VALUES ($1, $2) RETURNING number"
)

var noRows = pgx.ErrNoRows

// sharedTx is a step's transaction, with what it loaded.
type sharedTx struct {
	storage *Store
	conn    *pgxpool.Conn
	need    state.Need
	state   *state.State
	now     time.Time
}

// begin locks and loads what a step needs, in one round trip.
func (s *Store) begin(ctx context.Context, conn *pgxpool.Conn, n state.Need) (*sharedTx, error) {
	tx := &sharedTx{storage: s, conn: conn, need: n}
	tx.state = state.NewPart(&tx.need)
	if err := tx.load(ctx); err != nil {
		tx.release()
		return nil, moved(err)
	}
	return tx, nil
}

// release ends what was not committed.
func (tx *sharedTx) release() {
	if tx.conn.Conn().PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), stepTime)
		defer cancel()
		_, _ = tx.conn.Exec(ctx, "ROLLBACK") // a connection that fails is not used again
	}
	tx.conn.Release()
}

func (tx *sharedTx) load(ctx context.Context) error {
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	b.Queue(fmt.Sprintf("SET LOCAL statement_timeout = %d", stepTime.Milliseconds()))
	if tx.need.Freezes {
		b.Queue("SELECT pg_advisory_xact_lock($1)", int64(freezeLock))
	} else {
		b.Queue("SELECT pg_advisory_xact_lock_shared($1)", int64(freezeLock))
	}
	if locks := locksOf(&tx.need); locks != nil {
		b.Queue("SELECT count(pg_advisory_xact_lock(key)) FROM unnest($1::bigint[]) AS key", locks)
	}
	const epochOf = "SELECT clock_timestamp(), (SELECT epoch FROM bailiff.replicas WHERE id = $1)"
	b.Queue(epochOf, tx.storage.replica).QueryRow(func(row pgx.Row) error {
		var epoch *int64
		if err := row.Scan(&tx.now, &epoch); err != nil {
			return err
		}
		tx.now = tx.now.UTC()
		if epoch == nil || *epoch != tx.storage.epoch {
			tx.storage.fenced.Store(true)
			return errFenced
		}
		return nil
	})
	b.Queue("SELECT doc FROM bailiff.freezes WHERE gone IS NULL").Query(func(rows pgx.Rows) error {
		return each(rows, func(text string) error {
			var f state.Freeze
			err := state.Strict([]byte(text), &f)
			tx.state.Apply(state.Step{Frozen: []state.Freeze{f}})
			return err
		})
	})
	tx.slice(b)
	return tx.conn.SendBatch(ctx, b).Close()
}

func each(rows pgx.Rows, take func(text string) error) error {
	var text string
	_, err := pgx.ForEachRow(rows, []any{&text}, func() error { return take(text) })
	return err
}

// locksOf are the keys under which no other replica counts or opens the same meanwhile.
func locksOf(n *state.Need) (keys []int64) {
	if n.Holders == nil {
		return nil
	}
	keys = append(keys, lockKey(n.Digest))
	for _, h := range n.Holders {
		if h.Kind != "caller" { // of which there are few, and each asks much
			keys = append(keys, lockKey(string(hashOfHolder(h))))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func lockKey(text string) int64 {
	sum := sha256.Sum256([]byte(text))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// hashOfHolder stands for a holder in the tables, whatever its names hold.
func hashOfHolder(h state.Holder) []byte { return hashOf(h.Names()...) }

func hashOfOwner(o state.Owner) []byte { return hashOf(o.Names()...) }

func hashOf(parts ...string) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return sum[:16]
}

// slice loads the part of the state that is needed.
func (tx *sharedTx) slice(b *pgx.Batch) {
	n := &tx.need
	change := ""
	if n.Uses || n.All {
		change = " ORDER BY number FOR UPDATE"
	}
	if n.Digest != "" {
		tx.grants(b, "digest = $1"+change, n.Digest)
	}
	if n.Owners != nil {
		var owners [][]byte
		for _, o := range n.Owners {
			owners = append(owners, hashOfOwner(o))
		}
		tx.grants(b, "digest = '' AND owner = ANY($1)"+change, owners)
	}
	if n.Holders != nil {
		tx.items(b, "pending AND digest = $1", n.Digest)
		b.Queue("SELECT nextval('bailiff.numbers')").QueryRow(func(row pgx.Row) error {
			var seq int64
			err := row.Scan(&seq)
			tx.state.SetNext(uint64(seq))
			return err
		})
		tx.counts(b)
	}
	if n.Items != nil {
		tx.items(b, "id = ANY($1) ORDER BY id FOR UPDATE", n.Items)
		tx.grants(b, "approval = ANY($1) ORDER BY number FOR UPDATE", n.Items)
	}
	if n.Grants != nil {
		tx.grants(b, "id = ANY($1) ORDER BY number FOR UPDATE", n.Grants)
	}
	if n.Pending {
		tx.items(b, "pending ORDER BY seq")
	}
	if n.All {
		tx.grants(b, "true ORDER BY number FOR UPDATE")
	}
	if n.Ended {
		tx.items(b, "pending AND expires <= clock_timestamp() ORDER BY expires LIMIT 500 FOR UPDATE SKIP LOCKED")
		tx.grants(b, "expires <= clock_timestamp() ORDER BY expires LIMIT 500 FOR UPDATE SKIP LOCKED")
	}
}

func (tx *sharedTx) items(b *pgx.Batch, where string, args ...any) {
	b.Queue(selectItems+where, args...).Query(func(rows pgx.Rows) error {
		var seq, version int64
		var text string
		_, err := pgx.ForEachRow(rows, []any{&seq, &version, &text}, func() error {
			i, err := readItem(seq, version, text)
			if err == nil {
				tx.state.Load(i)
			}
			return err
		})
		return err
	})
}

func readItem(seq, version int64, text string) (*state.Item, error) {
	i := &state.Item{}
	if err := state.Strict([]byte(text), i); err != nil {
		return nil, fmt.Errorf("approval %d: %w", seq, err)
	}
	i.Version = version
	return i, nil
}

func (tx *sharedTx) grants(b *pgx.Batch, where string, args ...any) {
	b.Queue(selectGrants+where, args...).Query(func(rows pgx.Rows) error {
		var version int64
		var text string
		_, err := pgx.ForEachRow(rows, []any{&version, &text}, func() error {
			h, err := readGrant(version, text)
			if err == nil {
				tx.state.Apply(state.Step{Grants: []*state.Held{h}})
			}
			return err
		})
		return err
	})
}

func readGrant(version int64, text string) (*state.Held, error) {
	h := &state.Held{}
	if err := state.Strict([]byte(text), h); err != nil {
		return nil, fmt.Errorf("a grant: %w", err)
	}
	h.Version = version
	return h, nil
}

// counts counts what is pending of each holder.
func (tx *sharedTx) counts(b *pgx.Batch) {
	for _, h := range tx.need.Holders {
		column := map[string]string{"caller": "caller", "session": "session", "user": "person"}[h.Kind]
		query := "SELECT count(*) FROM bailiff.approvals WHERE pending AND " + column + " = $1"
		b.Queue(query, hashOfHolder(h)).QueryRow(func(row pgx.Row) error {
			n := 0
			err := row.Scan(&n)
			tx.state.SetCount(h, n)
			return err
		})
	}
}

// decide decides a step; one that looks at what it did not load fails.
func (tx *sharedTx) decide(d state.Decide) (t state.Step, err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		looked, is := cause.(state.Outside)
		if !is {
			panic(cause)
		}
		err = fmt.Errorf("%w: %w", state.ErrStore, looked)
		tx.storage.host.Log.Error(err.Error())
	}()
	return d(tx.state, tx.now)
}

// write writes a step and commits it, in one round trip. It returns the numbers of the step's
// events.
func (tx *sharedTx) write(ctx context.Context, t state.Step) (numbers []uint64, err error) {
	b := &pgx.Batch{}
	if err := queue(b, t); err != nil {
		return nil, err
	}
	if len(t.Frozen)+len(t.Thawed) > 0 {
		b.Queue(countFreezes)
	}
	for _, e := range t.Events {
		queued, err := queueEvent(b, tx.storage.replica, e)
		if err != nil {
			return nil, err
		}
		queued.QueryRow(func(row pgx.Row) error {
			var number int64
			err := row.Scan(&number)
			numbers = append(numbers, uint64(number))
			return err
		})
	}
	b.Queue("COMMIT")
	if err := tx.conn.SendBatch(ctx, b).Close(); err != nil {
		return nil, moved(err)
	}
	for _, i := range t.Items {
		i.Version++
	}
	for _, h := range slices.Concat(t.Grants, t.Ended) {
		h.Version++
	}
	return numbers, nil
}

func queueEvent(b *pgx.Batch, replica string, e api.Event) (*pgx.QueuedQuery, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return b.Queue(insertEvent, replica, string(text)), nil
}

// queue adds the rows of a step.
func queue(b *pgx.Batch, t state.Step) error {
	for _, i := range t.Items {
		text, err := json.Marshal(i)
		if err != nil {
			return err
		}
		queueItem(b, i, string(text))
	}
	for _, c := range t.Claims {
		b.Queue(insertClaim, int64(c.Seq), string(c.Text))
	}
	for _, h := range t.Grants {
		text, err := json.Marshal(h)
		if err != nil {
			return err
		}
		if h.Version == 0 {
			b.Queue(insertGrant, h.Grant.ID, h.Grant.ApprovalID, h.Grant.Digest, hashOfOwner(h.Owner()), orNull(h.Grant.Expires),
				string(text))
		} else {
			b.Queue(updateGrant, h.Grant.ID, h.Version, orNull(h.Grant.Expires), string(text))
		}
	}
	for _, h := range t.Ended {
		b.Queue(endGrant, h.Grant.ID, h.Version)
	}
	for _, f := range t.Frozen {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		b.Queue(putFreeze, f.Key(), string(text))
	}
	for _, f := range t.Thawed {
		b.Queue(endFreeze, f.Key())
	}
	return nil
}

func queueItem(b *pgx.Batch, i *state.Item, text string) {
	e := &i.Entry
	if i.Version > 0 {
		b.Queue(updateItem, e.ID, i.Version, i.Pending(), e.Expires, orNull(e.Resolved), text)
		return
	}
	h := state.Holders(e)
	b.Queue(insertItem, e.ID, int64(i.Seq), i.Pending(), e.Digest, hashOfHolder(h[0]), hashOfHolder(h[1]), hashOfHolder(h[2]),
		e.Expires, orNull(e.Resolved), text)
}

// orNull is nil for no time.
func orNull(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// moved tells the faults after which a step is decided anew: a row was changed, one of the same
// key was made, or two steps waited for each other.
func moved(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && slices.Contains([]string{"22012", "23505", "40P01", "40001"}, refused.Code) {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}

// Claim reads the text of a claim.
func (s *Store) Claim(seq uint64) (c state.ClaimText, found bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), stepTime)
	defer cancel()
	var text string
	err = s.db.Pool().QueryRow(ctx, "SELECT claim FROM bailiff.claims WHERE seq = $1", int64(seq)).Scan(&text)
	if errors.Is(err, noRows) {
		return c, false, nil
	}
	if err == nil {
		err = state.Strict([]byte(text), &c)
	}
	return c, err == nil, err
}
