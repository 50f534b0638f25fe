package shared

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
)

// A standby that is promoted may lack the last commits, and a backup that is restored does. What they did must
// not be done a second time: a grant that was used is back, a freeze is gone, a request id is free. Which commits
// are missing, none that is left can say for all. So the first sidecar that sees another server ends all grants of
// scope once there, and those of other scopes that it does not know; one that has just started knows of none, and
// ends those of scope once alone. Each sidecar says anew what it knows to be frozen and its own. Each grants nothing
// for deafAfter from when it sees the server, so that the others can say so too; one that takes longer is not waited for.
// One that starts meanwhile grants nothing either: the tables hold when the server was accepted.

// The statements by which another server is accepted.
const (
	lockServer = "SELECT server FROM bailiff.state FOR UPDATE"
	noteServer = `UPDATE bailiff.state SET server = $1, accepted = CASE WHEN $2 THEN clock_timestamp() END`
	// sinceAccepted is in seconds, by the server's clock.
	sinceAccepted = "SELECT extract(epoch FROM clock_timestamp() - accepted)::float8 FROM bailiff.state"
	endOnce       = `UPDATE bailiff.grants SET gone = clock_timestamp(), version = version + 1, changed = pg_current_xact_id()
		WHERE gone IS NULL`
	countMissing = `UPDATE bailiff.state SET freezes = freezes + 1
		WHERE cardinality($1::bytea[]) > (SELECT count(*) FROM bailiff.freezes WHERE key = ANY($1) AND gone IS NULL)`
	ofScopeOnce = " AND digest <> ''"
	orUnknown   = " AND (digest <> '' OR NOT id = ANY($1))"
	keepEpoch   = `INSERT INTO bailiff.replicas AS r (id, epoch, seen, freezes) VALUES ($1, $2, clock_timestamp(), 0)
		ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, seen = clock_timestamp(), freezes = 0 WHERE r.epoch < excluded.epoch`
)

// acceptServer goes on with another server than before.
func (s *Store) acceptServer(ctx context.Context) error {
	s.refuseFor(deafAfter)
	s.unsettled = true
	s.silences.Add(1) // others may have taken what was this sidecar's own
	var seen *state.State
	s.host.View.Look(func(shown *state.State) { seen = shown })
	settling, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	if err := s.settleServer(settling, seen); err != nil {
		return err
	}
	if err := s.moved(ctx); err != nil { // which bounds each of its steps, and goes on where it failed before
		return err
	}
	s.unsettled = false
	s.lost.Store(true)
	s.hasty.Store(true)
	s.wakeUp()
	s.host.Log.Warn("PostgreSQL is another server than before: a standby was promoted, or a backup was restored; grants of scope once "+
		"and those that no running sidecar knew were ended", "server", s.server())
	return nil
}

func (s *Store) server() string {
	p, _ := s.db.LastPlace()
	return p.Server
}

// settleFirst accepts the server at the start, when nothing was seen yet.
func (s *Store) settleFirst(ctx context.Context) error { return s.settleServer(ctx, nil) }

// settleServer has what commits that may be missing did be done by none again, once for each server, and
// accepts it. Seen is what was shown of the server before; nil at the start.
func (s *Store) settleServer(ctx context.Context, seen *state.State) error {
	conn, err := s.db.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var now postgres.Place
	if err := conn.QueryRow(ctx, postgres.SelectPlace).Scan(&now.Server, &now.Position); err != nil {
		return err
	}
	var since *float64
	what := "asking PostgreSQL which server it is"
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(freezeLock)); err != nil {
			return err
		}
		var noted string
		if err := tx.QueryRow(ctx, lockServer).Scan(&noted); err != nil {
			return err
		}
		before, known := s.db.LastPlace()
		isBack := known && before.Server == now.Server && now.Position < before.Position
		if noted != now.Server || isBack {
			if noted != "" {
				what = "accepting another server"
			}
			if err := noteMove(ctx, tx, now.Server, noted != "" || isBack, seen); err != nil {
				return err
			}
		}
		if err := tx.QueryRow(ctx, sinceAccepted).Scan(&since); err != nil {
			return err
		}
		return s.sayAnew(ctx, tx, seen)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if since != nil {
		s.refuseFor(deafAfter - time.Duration(*since*float64(time.Second)))
	}
	s.db.Accept(now)
	return nil
}

// refuseFor has nothing be granted for a while, or for longer if that was said before.
func (s *Store) refuseFor(d time.Duration) {
	until := time.Since(s.began) + min(d, deafAfter) // a server's clock may have been set back
	s.refusing.Store(max(s.refusing.Load(), int64(until)))
}

// noteMove has a server be the one that is accepted. Anew says that it takes another one's place.
func noteMove(ctx context.Context, tx pgx.Tx, server string, anew bool, seen *state.State) error {
	if anew {
		if err := endGrants(ctx, tx, seen); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, noteServer, server, anew)
	return err
}

// endGrants ends the grants that may have been used or revoked by what is missing.
func endGrants(ctx context.Context, tx pgx.Tx, seen *state.State) error {
	if seen == nil {
		_, err := tx.Exec(ctx, endOnce+ofScopeOnce)
		return err
	}
	known := []string{}
	for id := range seen.AllGrants() {
		known = append(known, id)
	}
	_, err := tx.Exec(ctx, endOnce+orUnknown, known)
	return err
}

// sayAnew says what this sidecar knows to be frozen, and which run it is.
func (s *Store) sayAnew(ctx context.Context, tx pgx.Tx, seen *state.State) error {
	if seen == nil {
		return nil
	}
	b := &pgx.Batch{}
	b.Queue(keepEpoch, s.replica, s.epoch)
	s.sayMarks(b)
	var keys [][]byte
	for _, f := range seen.AllFreezes() {
		keys = append(keys, f.Key())
	}
	b.Queue(countMissing, keys) // before they are put
	for _, f := range seen.AllFreezes() {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		b.Queue(putFreeze, f.Key(), string(text))
	}
	return tx.SendBatch(ctx, b).Close()
}
