package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff/internal/recent"
)

const (
	// mostClaims are written in one transaction; maxQueued wait for it.
	mostClaims = 256
	maxQueued  = 1024
	// endEvery is how long an end waits to be written, maxOver how many do.
	endEvery = time.Second
	maxOver  = 50_000
)

// Requests are the request ids of all sidecars. Many are claimed in one transaction.
type Requests struct {
	*Fleet
	claims chan *claim
	ends   chan end
	free   chan chan struct{} // each of its channels is closed when all ends before it are written, or could not be
	over   chan struct{}      // closed when nothing is written any more
	made   *recent.Map[key, [sha256.Size]byte]
	anew   anew
}

// RequestID is one of a caller's session.
type RequestID struct{ Caller, Session, ID string }

func (r RequestID) key() key { return keyOf("request", r.Caller, r.Session, r.ID) }

// claim waits to be written.
type claim struct {
	key    key
	digest [sha256.Size]byte
	done   chan claimed
}

type claimed struct {
	outcome Claimed
	err     error
}

// end says that a request has ended, or that it never began.
type end struct {
	key  key
	free bool
}

// Claimed says what an id is.
type Claimed int

// The outcomes of a claim. Of an id that another sidecar claimed, or an earlier run of this
// one, it is told whether that was for the same request.
const (
	Unclaimed Claimed = iota
	First
	SameElsewhere
	OtherElsewhere
)

// Requests returns the request ids, which are claimed while Run runs.
func (f *Fleet) Requests() *Requests {
	return &Requests{Fleet: f, claims: make(chan *claim, maxQueued), ends: make(chan end, maxQueued), free: make(chan chan struct{}),
		over: make(chan struct{}), made: recent.New[key, [sha256.Size]byte](maxOver)}
}

// Claim makes an id this sidecar's. One that it had claimed before in this run is first again:
// what became of it is this sidecar's to know.
func (r *Requests) Claim(ctx context.Context, id RequestID, digest string) (Claimed, error) {
	if s := r.config.Standing(); s.Err != nil {
		return Unclaimed, s.Err
	}
	c := &claim{key: id.key(), digest: sha256.Sum256([]byte(digest)), done: make(chan claimed, 1)}
	select {
	case r.claims <- c:
	case <-ctx.Done():
		return Unclaimed, ctx.Err()
	}
	select {
	case came := <-c.done:
		return came.outcome, came.err
	case <-r.over:
		return Unclaimed, errOver
	case <-ctx.Done():
		return Unclaimed, ctx.Err()
	}
}

var errOver = fmt.Errorf("%w: the sidecar is stopping", ErrStore)

// Ended says that a request has its answer. Free says that it never ran, so that its id may be
// claimed again. An end that is not written costs no more than that the id is known for longer.
func (r *Requests) Ended(id RequestID, free bool) {
	select {
	case r.ends <- end{id.key(), free}:
	default:
	}
}

// AwaitFree returns when all sidecars know of the ids that were free before, unless PostgreSQL does not take them.
// Sessions are given away after it: else the next sidecar would take a request that never ran for one that may have.
func (r *Requests) AwaitFree(ctx context.Context) {
	written := make(chan struct{})
	select {
	case r.free <- written:
	case <-r.over:
		return
	case <-ctx.Done():
		return
	}
	<-written
}

// Run writes what is claimed and what has ended, until ctx ends, and then what ended until then.
func (r *Requests) Run(ctx context.Context) {
	defer close(r.over)
	tick := time.NewTicker(endEvery)
	defer tick.Stop()
	var over []end
	for {
		var batch []*claim
		var ended []end
		var written chan struct{}
		select {
		case c := <-r.claims:
			batch = r.more(c)
			ended, over = r.queuedEnds(over)
		case written = <-r.free:
			ended, over = r.queuedEnds(over)
		case <-tick.C:
			ended, over = r.queuedEnds(over)
			ended, over = append(ended, over...), nil
		case <-ctx.Done():
			if ended, over = r.queuedEnds(over); len(ended)+len(over) > 0 {
				r.write(context.WithoutCancel(ctx), nil, append(ended, over...))
			}
			return
		}
		if len(batch)+len(ended) > 0 {
			r.write(ctx, batch, ended)
		}
		if written != nil {
			close(written)
		}
	}
}

// more takes what has queued up behind a claim.
func (r *Requests) more(first *claim) []*claim {
	batch := []*claim{first}
	for len(batch) < mostClaims {
		select {
		case next := <-r.claims:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// queuedEnds sorts what has ended: an id that is free is given up before it can be claimed again, what is
// over is written with the next tick, so that no claim waits for it.
func (r *Requests) queuedEnds(before []end) (free, over []end) {
	over = before
	for {
		select {
		case e := <-r.ends:
			if e.free {
				free = append(free, e)
			} else if len(over) < maxOver {
				over = append(over, e)
			}
		default:
			return free, over
		}
	}
}

const (
	claimIDs = `INSERT INTO bailiff.requests (key, digest, replica, epoch) SELECT k, d, $3, $4
		FROM unnest($1::bytea[], $2::bytea[]) AS t (k, d)
		WHERE EXISTS (SELECT FROM bailiff.replicas WHERE id = $3 AND epoch = $4) ORDER BY k ON CONFLICT (key) DO NOTHING RETURNING key`
	claimedIDs = "SELECT key, digest, replica = $2 AND epoch = $3 FROM bailiff.requests WHERE key = ANY($1)"
	endIDs     = "UPDATE bailiff.requests SET ended = clock_timestamp() WHERE key = ANY($1) AND replica = $2 AND epoch = $3"
	freeIDs    = "DELETE FROM bailiff.requests WHERE key = ANY($1) AND replica = $2 AND epoch = $3"
)

// write writes a batch in one transaction, and answers its claims.
func (r *Requests) write(ctx context.Context, batch []*claim, ended []end) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	epoch, open := r.config.Standing().Epoch, map[key]*claim{}
	var keys, digests [][]byte
	for _, c := range batch {
		if open[c.key] != nil {
			c.done <- claimed{err: fmt.Errorf("%w: the id is claimed twice at once", ErrStore)}
			continue
		}
		open[c.key] = c
		keys, digests = append(keys, c.key[:]), append(digests, c.digest[:])
	}
	taken, err := r.put(ctx, ended, keys, digests, epoch)
	if err == nil {
		for _, k := range taken {
			r.made.Put(key(k), open[key(k)].digest) // before it is answered
			open[key(k)].answer(First, nil)
			delete(open, key(k))
		}
		err = r.known(ctx, open, epoch)
	}
	for _, c := range open {
		c.answer(Unclaimed, fault(cmp.Or(err, errFenced)))
	}
}

// put writes ends and claims in one transaction, and returns the keys that are claimed by it.
func (r *Requests) put(ctx context.Context, ended []end, keys, digests [][]byte, epoch int64) (taken [][]byte, err error) {
	args := []any{keys, digests, r.config.Replica, epoch}
	if len(ended) == 0 { // as for nearly all claims: alone the statement takes an eighth less time than in a batch
		rows, _ := r.config.DB.Own().Query(ctx, claimIDs, args...) // its error is that of the rows
		return pgx.CollectRows(rows, pgx.RowTo[[]byte])
	}
	b := &pgx.Batch{}
	r.queueEnds(b, ended, epoch)
	if len(keys) > 0 {
		b.Queue(claimIDs, args...).Query(func(rows pgx.Rows) (err error) {
			taken, err = pgx.CollectRows(rows, pgx.RowTo[[]byte])
			return err
		})
	}
	err = r.config.DB.Own().SendBatch(ctx, b).Close() // which reads what is taken
	return taken, err
}

func (c *claim) answer(outcome Claimed, err error) { c.done <- claimed{outcome, err} }

func (r *Requests) queueEnds(b *pgx.Batch, ended []end, epoch int64) {
	var over, free [][]byte
	for _, e := range ended {
		if e.free {
			r.made.Take(e.key)
			free = append(free, e.key[:])
		} else {
			over = append(over, e.key[:])
		}
	}
	if over != nil {
		b.Queue(endIDs, over, r.config.Replica, epoch)
	}
	if free != nil {
		b.Queue(freeIDs, free, r.config.Replica, epoch)
	}
}

// known answers the claims whose id was claimed before, and leaves those of which nothing is
// known.
func (r *Requests) known(ctx context.Context, open map[key]*claim, epoch int64) error {
	if len(open) == 0 {
		return nil
	}
	var keys [][]byte
	for k := range open {
		keys = append(keys, k[:])
	}
	rows, err := r.config.DB.Own().Query(ctx, claimedIDs, keys, r.config.Replica, epoch)
	if err != nil {
		return err
	}
	var k, digest []byte
	var own bool
	_, err = pgx.ForEachRow(rows, []any{&k, &digest, &own}, func() error {
		c := open[key(k)]
		switch {
		case own:
			c.answer(First, nil)
		case bytes.Equal(digest, c.digest[:]):
			c.answer(SameElsewhere, nil)
		default:
			c.answer(OtherElsewhere, nil)
		}
		delete(open, key(k))
		return nil
	})
	return err
}
