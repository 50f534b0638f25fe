package shared

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
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
		WHERE seq IN (SELECT seq FROM (SELECT seq, resolved, row_number() OVER (ORDER BY resolved DESC) AS place FROM bailiff.approvals
		WHERE gone IS NULL AND NOT pending) AS answered WHERE place > $2 OR resolved < clock_timestamp() - make_interval(secs => $1)
		ORDER BY place DESC LIMIT $3)`
	pruneClaims  = "DELETE FROM bailiff.claims WHERE seq IN (SELECT seq FROM bailiff.approvals WHERE gone IS NOT NULL)"
	forgetItems  = "DELETE FROM bailiff.approvals WHERE gone < clock_timestamp() - interval '1 hour'"
	forgetGrants = "DELETE FROM bailiff.grants WHERE gone < clock_timestamp() - interval '1 hour'"
	forgetFreeze = "DELETE FROM bailiff.freezes WHERE gone < clock_timestamp() - interval '1 hour'"
	// inherit takes over the events of replicas that have been gone for a minute.
	inherit = `UPDATE bailiff.outbox SET replica = $1 WHERE replica NOT IN (
		SELECT id FROM bailiff.replicas WHERE seen > clock_timestamp() - interval '1 minute')`
)

// pruneRows is how many approvals go at once.
const pruneRows = 5000

// followed is what one look at the tables found.
type followed struct {
	step    state.Step
	place   postgres.Place
	horizon string
	freezes int64
	marks   string // of all replicas
	now     time.Time
	numbers []uint64
	events  []api.Event
	last    int64 // the number of the last approval that was read
	isWhole bool  // no page of approvals is left to read
}

// fromTheBeginning is the horizon of a look that reads all.
const fromTheBeginning = "0"

// follow shows what others did, stops what is frozen by now, and returns the version of the
// freezes that is in force here then.
func (s *Store) follow(ctx context.Context) (freezes int64, err error) {
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
func (s *Store) look(ctx context.Context) (*followed, error) {
	s.showing.Lock()
	defer s.showing.Unlock()
	if s.reload {
		s.horizon = fromTheBeginning
	}
	rescan := s.lost.Swap(false)
	news, err := s.read(ctx, rescan)
	if before, known := s.db.LastPlace(); err == nil && known {
		err = news.place.IsAfter(before)
	}
	if err == nil {
		err = s.seeMarks(news.marks)
	}
	if err != nil {
		s.lost.Store(s.lost.Load() || rescan)
		return nil, err
	}
	s.db.Accept(news.place)
	s.skew.Store(int64(time.Until(news.now)))
	s.horizon = news.horizon
	s.host.Outbox.Merge(news.numbers, news.events)
	if s.reload {
		s.reload = false
		s.anew(news.step)
	} else {
		s.foreign(news.step)
	}
	s.lock.Lock()
	s.deadline.Plan(news.step)
	s.lock.Unlock()
	return news, nil
}

// pageRows are how many approvals are read at once.
const pageRows = 1000

// read reads what transactions changed that were not over when it was read last, in one round trip. What is more
// than a page is read anew page by page, in one snapshot, and may take as long as it needs.
func (s *Store) read(ctx context.Context, rescan bool) (*followed, error) {
	conn, err := s.ownConnection(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	f, err := s.readFirst(ctx, conn, rescan, true)
	if err != nil || f.isWhole {
		return f, err
	}
	if f, err = s.readFirst(ctx, conn, rescan, false); err != nil {
		return nil, err
	}
	for !f.isWhole {
		b := &pgx.Batch{}
		f.items(b, s.horizon)
		if err := send(ctx, conn, b, stepTime); err != nil {
			return nil, err
		}
	}
	b := &pgx.Batch{}
	b.Queue("COMMIT")
	return f, send(ctx, conn, b, stepTime)
}

// pageTime is how long a round trip of a look may take: where all is read anew there is much more to do.
func (s *Store) pageTime() time.Duration {
	if s.reload {
		return stepTime
	}
	return lookTime
}

func (s *Store) ownConnection(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.pageTime())
	defer cancel()
	return s.db.Own().Acquire(ctx)
}

func send(ctx context.Context, conn *pgxpool.Conn, b *pgx.Batch, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return conn.SendBatch(ctx, b).Close()
}

const selectState = `SELECT pg_snapshot_xmin(pg_current_snapshot())::text, clock_timestamp(), freezes,
	(SELECT coalesce(json_object_agg(id, mark), '{}')::text FROM bailiff.replicas) FROM bailiff.state`

// readFirst reads all but the approvals after the first page. Those may be read where it does not end the transaction.
func (s *Store) readFirst(ctx context.Context, conn *pgxpool.Conn, rescan, ends bool) (*followed, error) {
	f := &followed{}
	b := &pgx.Batch{}
	b.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	b.Queue(selectState).QueryRow(func(row pgx.Row) error { return row.Scan(&f.horizon, &f.now, &f.freezes, &f.marks) })
	b.Queue(postgres.SelectPlace).QueryRow(func(row pgx.Row) error { return row.Scan(&f.place.Server, &f.place.Position) })
	f.items(b, s.horizon)
	f.grants(b, s.horizon)
	f.frozen(b, s.horizon)
	if rescan {
		f.outbox(b, s.replica)
	}
	if ends {
		b.Queue("COMMIT")
	}
	return f, send(ctx, conn, b, s.pageTime())
}

// sortOut puts what a row holds with what is there, or with what is gone.
func sortOut[T any](one T, gone bool, there, ended *[]T) {
	if gone {
		there = ended
	}
	*there = append(*there, one)
}

// The statements that read a page of approvals. Of those that are gone no text is read. Where all is read anew, they
// are left out, and so are the answered ones that are due to go: an hour of asking leaves many. OFFSET 0 has what
// changed be looked for by its index, whatever the order.
const (
	selectAnew = `SELECT seq, version, id, doc, false FROM bailiff.approvals WHERE gone IS NULL AND seq > $1 AND (pending OR seq IN (
		SELECT seq FROM bailiff.approvals WHERE gone IS NULL AND NOT pending ORDER BY resolved DESC LIMIT $3)) ORDER BY seq LIMIT $2`
	selectChanged = `SELECT seq, version, id, CASE WHEN gone IS NULL THEN doc ELSE '' END, gone IS NOT NULL FROM (
		SELECT * FROM bailiff.approvals WHERE changed >= $3::text::xid8 OFFSET 0) AS news WHERE seq > $1 ORDER BY seq LIMIT $2`
)

// items reads the next page of approvals.
func (f *followed) items(b *pgx.Batch, horizon string) {
	query, args := selectChanged, []any{f.last, pageRows, horizon}
	if horizon == fromTheBeginning {
		query, args[2] = selectAnew, state.KeepResolved
	}
	b.Queue(query, args...).Query(func(rows pgx.Rows) error {
		var seq, version int64
		var id, text string
		var gone bool
		found := 0
		_, err := pgx.ForEachRow(rows, []any{&seq, &version, &id, &text, &gone}, func() (err error) {
			found, f.last = found+1, seq
			i := &state.Item{Seq: uint64(seq), Entry: state.Entry{ID: id}}
			if !gone {
				i, err = readItem(seq, version, text)
			}
			sortOut(i, gone, &f.step.Items, &f.step.Pruned)
			return err
		})
		f.isWhole = found < pageRows
		return err
	})
}

func (f *followed) grants(b *pgx.Batch, horizon string) {
	query := "SELECT version, doc, gone IS NOT NULL FROM bailiff.grants WHERE changed >= $1::text::xid8"
	if horizon == fromTheBeginning {
		query += " AND gone IS NULL"
	}
	b.Queue(query+" ORDER BY number", horizon).Query(
		func(rows pgx.Rows) error {
			var version int64
			var text string
			var gone bool
			_, err := pgx.ForEachRow(rows, []any{&version, &text, &gone}, func() error {
				h, err := readGrant(version, text)
				sortOut(h, gone, &f.step.Grants, &f.step.Ended)
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
			var one state.Freeze
			err := state.Strict([]byte(text), &one)
			sortOut(one, gone, &f.step.Frozen, &f.step.Thawed)
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
			var e state.Outgoing
			err := state.Strict([]byte(text), &e)
			f.numbers, f.events = append(f.numbers, uint64(number)), append(f.events, api.Event(e))
			return err
		})
		return err
	})
}

// anew shows what the tables hold in the place of what was shown.
func (s *Store) anew(t state.Step) {
	s.marks.due.Store(true)
	c := state.Contents{Items: t.Items, Grants: t.Grants, Freezes: t.Frozen}
	s.host.View.ShowAnew(c.State(0), true)
}

// foreign shows what others did, which they have counted.
func (s *Store) foreign(t state.Step) {
	s.host.View.Look(func(seen *state.State) { t = seen.News(t) })
	if t.IsMarked() {
		s.marks.due.Store(true)
	}
	if !t.Empty() {
		s.host.View.Show(t)
	}
}

// Confirm waits until a freeze is in force wherever a replica lives, and names those that were
// silent for so long that they deny by themselves, but may go on with what they run.
func (s *Store) Confirm(ctx context.Context) (quiet []string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deafAfter+lookTime)
	defer cancel()
	version, err := s.follow(ctx)
	if err != nil {
		return nil, s.fault(err)
	}
	for {
		waiting, err := s.names(ctx, unconfirmed, s.replica, version, deafAfter.Seconds())
		if err != nil {
			return nil, s.fault(err)
		}
		if len(waiting) == 0 {
			break
		}
		select {
		case <-time.After(confirmEvery):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: replicas %s have not said that the freeze is in force there", state.ErrStore,
				strings.Join(waiting, ", "))
		}
	}
	quiet, err = s.names(ctx, silent, s.replica, version)
	if err != nil {
		return nil, s.fault(err)
	}
	return quiet, nil
}

func (s *Store) names(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := s.db.Own().Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Keep removes what is old, unless another replica does it, and takes over the events of
// replicas that are gone.
func (s *Store) Keep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	defer s.lost.Store(true) // looks at its own events again, too
	return pgx.BeginFunc(ctx, s.db.Own(), func(tx pgx.Tx) error {
		mine := false
		if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(keeperLock)).Scan(&mine); err != nil || !mine {
			return err
		}
		b := &pgx.Batch{}
		b.Queue(pruneItems, state.KeepFor.Seconds(), state.KeepResolved, pruneRows)
		for _, statement := range []string{pruneClaims, forgetItems, forgetGrants, forgetFreeze} {
			b.Queue(statement)
		}
		b.Queue(inherit, s.replica)
		return tx.SendBatch(ctx, b).Close()
	})
}
