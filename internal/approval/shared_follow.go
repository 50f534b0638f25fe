package approval

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/postgres"
)

// The statements by which replicas know of each other. A replica that left, or has been silent
// for so many seconds, gives its name away.
const (
	takeName = `INSERT INTO bailiff.replicas AS r (id, epoch, seen, freezes) VALUES ($1, 1, clock_timestamp(), 0)
		ON CONFLICT (id) DO UPDATE SET epoch = r.epoch + 1, seen = clock_timestamp(), freezes = 0
		WHERE r.seen < clock_timestamp() - make_interval(secs => $2) RETURNING epoch`
	beat = `WITH sent AS (DELETE FROM bailiff.outbox WHERE number = ANY($4::bigint[]))
		UPDATE bailiff.replicas SET seen = clock_timestamp(), freezes = $3 WHERE id = $1 AND epoch = $2`
	leave = `WITH sent AS (DELETE FROM bailiff.outbox WHERE number = ANY($3::bigint[]))
		UPDATE bailiff.replicas SET seen = '-infinity' WHERE id = $1 AND epoch = $2`
	// unconfirmed are the replicas that may still go by older freezes: those that live, and have
	// not said that they go by these, and have not been silent for so long that they deny.
	unconfirmed = `SELECT id FROM bailiff.replicas WHERE id <> $1 AND freezes < $2 AND seen > clock_timestamp() - make_interval(secs => $3)
		ORDER BY id`
	// silent are those that deny by now, and may still run what they ran.
	silent    = `SELECT id FROM bailiff.replicas WHERE id <> $1 AND freezes < $2 AND seen > '-infinity' ORDER BY id`
	ownEvents = "SELECT number, doc FROM bailiff.outbox WHERE replica = $1 ORDER BY number"
)

// The statements of the one replica that removes what is old.
const (
	keeperLock = 0x6b6565706572 // "keeper"
	pruneItems = `UPDATE bailiff.approvals SET gone = clock_timestamp(), version = version + 1, changed = pg_current_xact_id()
		WHERE gone IS NULL AND NOT pending AND (resolved < clock_timestamp() - make_interval(secs => $1) OR id IN (
		SELECT id FROM bailiff.approvals WHERE gone IS NULL AND NOT pending ORDER BY resolved DESC OFFSET $2))`
	pruneClaims  = "DELETE FROM bailiff.claims WHERE seq IN (SELECT seq FROM bailiff.approvals WHERE gone IS NOT NULL)"
	forgetItems  = "DELETE FROM bailiff.approvals WHERE gone < clock_timestamp() - interval '1 hour'"
	forgetGrants = "DELETE FROM bailiff.grants WHERE gone < clock_timestamp() - interval '1 hour'"
	forgetFreeze = "DELETE FROM bailiff.freezes WHERE gone < clock_timestamp() - interval '1 hour'"
	// inherit takes over the events of replicas that have been gone for a minute.
	inherit = `UPDATE bailiff.outbox SET replica = $1 WHERE replica NOT IN (
		SELECT id FROM bailiff.replicas WHERE seen > clock_timestamp() - interval '1 minute')`
)

// followed is what one look at the tables found.
type followed struct {
	step    step
	place   postgres.Place
	horizon string
	freezes int64
	now     time.Time
	numbers []uint64
	events  []api.Event
}

// follow shows what others did, stops what is frozen by now, and returns the version of the
// freezes that is in force here then.
func (s *sharedStore) follow(ctx context.Context) (freezes int64, err error) {
	s.following.Lock()
	defer s.following.Unlock()
	news, err := s.look(ctx)
	if err != nil {
		s.reload = true // a database that comes back may be another one
		return 0, err
	}
	if news.freezes != s.freezes.Swap(news.freezes) {
		s.froze(ctx)
		s.hasty.Store(true) // the others wait to hear of it
		s.wakeUp()
	}
	return news.freezes, nil
}

// look reads what changed since the last look, and shows it.
func (s *sharedStore) look(ctx context.Context) (*followed, error) {
	s.showing.Lock()
	defer s.showing.Unlock()
	if s.reload {
		s.horizon = "0"
	}
	rescan := s.lost.Swap(false)
	news, err := s.read(ctx, rescan)
	if before, known := s.db.Accepted(); err == nil && known {
		err = news.place.IsAfter(before)
	}
	if err != nil {
		s.lost.Store(s.lost.Load() || rescan)
		return nil, err
	}
	s.db.Accept(news.place)
	s.skew.Store(int64(time.Until(news.now)))
	s.horizon = news.horizon
	s.outbox.merge(news.numbers, news.events)
	if s.reload {
		s.reload = false
		s.anew(news.step)
	} else {
		s.foreign(news.step)
	}
	s.lock.Lock()
	s.deadline.plan(news.step)
	s.lock.Unlock()
	return news, nil
}

// read reads what transactions changed that were not over when it was read last.
func (s *sharedStore) read(ctx context.Context, rescan bool) (*followed, error) {
	f := &followed{}
	b := &pgx.Batch{}
	b.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	b.Queue("SELECT pg_snapshot_xmin(pg_current_snapshot())::text, clock_timestamp(), freezes FROM bailiff.state").QueryRow(
		func(row pgx.Row) error { return row.Scan(&f.horizon, &f.now, &f.freezes) })
	b.Queue(postgres.SelectPlace).QueryRow(func(row pgx.Row) error { return row.Scan(&f.place.Server, &f.place.Position) })
	f.items(b, s.horizon)
	f.grants(b, s.horizon)
	f.frozen(b, s.horizon)
	if rescan {
		f.outbox(b, s.replica)
	}
	b.Queue("COMMIT")
	conn, err := s.db.Own().Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	return f, conn.SendBatch(ctx, b).Close()
}

// sortOut puts what a row holds with what is there, or with what is gone.
func sortOut[T any](one T, gone bool, there, ended *[]T) {
	if gone {
		there = ended
	}
	*there = append(*there, one)
}

func (f *followed) items(b *pgx.Batch, horizon string) {
	const changed = "SELECT seq, version, doc, gone IS NOT NULL FROM bailiff.approvals WHERE changed >= $1::text::xid8 ORDER BY seq"
	b.Queue(changed, horizon).Query(
		func(rows pgx.Rows) error {
			var seq, version int64
			var text string
			var gone bool
			_, err := pgx.ForEachRow(rows, []any{&seq, &version, &text, &gone}, func() error {
				i, err := readItem(seq, version, text)
				sortOut(i, gone, &f.step.items, &f.step.pruned)
				return err
			})
			return err
		})
}

func (f *followed) grants(b *pgx.Batch, horizon string) {
	b.Queue("SELECT version, doc, gone IS NOT NULL FROM bailiff.grants WHERE changed >= $1::text::xid8 ORDER BY number", horizon).Query(
		func(rows pgx.Rows) error {
			var version int64
			var text string
			var gone bool
			_, err := pgx.ForEachRow(rows, []any{&version, &text, &gone}, func() error {
				h, err := readGrant(version, text)
				sortOut(h, gone, &f.step.grants, &f.step.ended)
				return err
			})
			return err
		})
}

func (f *followed) frozen(b *pgx.Batch, horizon string) {
	b.Queue("SELECT doc, gone IS NOT NULL FROM bailiff.freezes WHERE changed >= $1::text::xid8", horizon).Query(func(rows pgx.Rows) error {
		var text string
		var gone bool
		_, err := pgx.ForEachRow(rows, []any{&text, &gone}, func() error {
			var one freeze
			err := strict([]byte(text), &one)
			sortOut(one, gone, &f.step.frozen, &f.step.thawed)
			return err
		})
		return err
	})
}

func (f *followed) outbox(b *pgx.Batch, replica string) {
	b.Queue(ownEvents, replica).Query(func(rows pgx.Rows) error {
		var number int64
		var text string
		_, err := pgx.ForEachRow(rows, []any{&number, &text}, func() error {
			var e outgoing
			err := strict([]byte(text), &e)
			f.numbers, f.events = append(f.numbers, uint64(number)), append(f.events, api.Event(e))
			return err
		})
		return err
	})
}

// anew shows what the tables hold in the place of what was shown.
func (s *sharedStore) anew(t step) {
	c := contents{items: t.items, grants: t.grants, freezes: t.frozen}
	s.reconcile(c.state(0), func(i *item) {
		s.config.Observer.ApprovalEndedElsewhere(i.Entry.Request.Session.Platform)
	})
}

// foreign shows what others did, which they have counted.
func (s *sharedStore) foreign(t step) {
	s.mu.Lock()
	t = s.seen.unknown(t)
	for _, i := range t.items {
		platform := i.Entry.Request.Session.Platform
		switch was := s.seen.items[i.Entry.ID]; {
		case i.pending() && was == nil:
			t.told = append(t.told, func(o Observer) { o.ApprovalOpened(platform) })
		case !i.pending() && was != nil && was.pending():
			t.told = append(t.told, func(o Observer) { o.ApprovalEndedElsewhere(platform) })
		}
	}
	s.mu.Unlock()
	if !t.empty() {
		s.show(t)
	}
}

// unknown is what of a step is not part of the state.
func (s *state) unknown(t step) (news step) {
	for _, i := range t.items {
		if was := s.items[i.Entry.ID]; was == nil || was.version < i.version {
			news.items = append(news.items, i)
		}
	}
	for _, i := range t.pruned {
		if was := s.items[i.Entry.ID]; was != nil {
			news.pruned = append(news.pruned, was)
		}
	}
	for _, h := range t.grants {
		if was := s.grants[h.Grant.ID]; was == nil || was.version < h.version {
			news.grants = append(news.grants, h)
		}
	}
	for _, h := range t.ended {
		if s.grants[h.Grant.ID] != nil {
			news.ended = append(news.ended, h)
		}
	}
	for _, f := range t.frozen {
		if was, known := s.freezes[freezeKey{f.Kind, f.ID}]; !known || was != f {
			news.frozen = append(news.frozen, f)
		}
	}
	for _, f := range t.thawed {
		if _, known := s.freezes[freezeKey{f.Kind, f.ID}]; known {
			news.thawed = append(news.thawed, f)
		}
	}
	return news
}

// confirm waits until a freeze is in force wherever a replica lives, and names those that were
// silent for so long that they deny by themselves, but may go on with what they run.
func (s *sharedStore) confirm(ctx context.Context) (quiet []string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deafAfter+lookTime)
	defer cancel()
	version, err := s.follow(ctx)
	if err != nil {
		return nil, storeFault(err)
	}
	for {
		waiting, err := s.names(ctx, unconfirmed, s.replica, version, deafAfter.Seconds())
		if err != nil {
			return nil, storeFault(err)
		}
		if len(waiting) == 0 {
			break
		}
		select {
		case <-time.After(confirmEvery):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: replicas %s have not said that the freeze is in force there", ErrStore, strings.Join(waiting, ", "))
		}
	}
	quiet, err = s.names(ctx, silent, s.replica, version)
	if err != nil {
		return nil, storeFault(err)
	}
	return quiet, nil
}

func (s *sharedStore) names(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := s.db.Own().Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// keep removes what is old, unless another replica does it, and takes over the events of
// replicas that are gone.
func (s *sharedStore) keep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	defer s.lost.Store(true) // looks at its own events again, too
	return pgx.BeginFunc(ctx, s.db.Own(), func(tx pgx.Tx) error {
		mine := false
		if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(keeperLock)).Scan(&mine); err != nil || !mine {
			return err
		}
		b := &pgx.Batch{}
		b.Queue(pruneItems, keepFor.Seconds(), keepResolved)
		for _, statement := range []string{pruneClaims, forgetItems, forgetGrants, forgetFreeze} {
			b.Queue(statement)
		}
		b.Queue(inherit, s.replica)
		return tx.SendBatch(ctx, b).Close()
	})
}
