package shared

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/fleet/watermark"
	"github.com/bailiff-dev/bailiff/internal/record/outage"
)

// Where all sidecars were stopped while a backup was put back, none that lives knows what is missing. So each sidecar
// counts up a number in its row after what it saw of freezes, answers and grants, and keeps it in its state folder once
// the store has acknowledged it. The number was written after what it stands for: a store that has it has all of that.
// One that has a lower number at the start has lost some, also where it says the same of its system, timeline and position, which
// a restored dump shares with what it was dumped from. Then everything is frozen until a person thaws it, and all
// grants end, as they do when an operator freezes everything.
//
// Each sidecar knows the others' numbers, too, and says them anew to a standby that was promoted, with the freezes
// that it knows: one that was stopped meanwhile freezes nothing when what it knew is there.

// The statements by which marks are compared and counted up.
const (
	selectMark  = "SELECT coalesce((SELECT mark FROM bailiff.replicas WHERE id = $1), 0)"
	advanceMark = "UPDATE bailiff.replicas SET mark = $3 WHERE id = $1 AND epoch = $2 AND mark <= $3"
	sayMark     = `INSERT INTO bailiff.replicas AS r (id, epoch, seen, freezes, mark) VALUES ($1, 0, '-infinity', 0, $2)
		ON CONFLICT (id) DO UPDATE SET mark = greatest(r.mark, excluded.mark)`
	endAllGrants     = endOnce
	selectFreezeOfID = "SELECT doc FROM bailiff.freezes WHERE key = $1 AND gone IS NULL"
)

// marks are how far this sidecar saw the store go.
type marks struct {
	file watermark.File
	// due says that more was seen than is marked.
	due     atomic.Bool
	failing outage.Outage // of writing the file

	mu     sync.Mutex
	number int64
	// all are those of all replicas, as of what is shown; showing is held for them.
	all map[string]int64
}

// isOperators says whether a step is waited for until it is marked.
func isOperators(n *state.Need) bool { return n.Freezes || n.Grants != nil }

// compareMark freezes everything where the store lacks what this sidecar saw there.
func (s *Store) compareMark(ctx context.Context) error {
	m := &s.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	kept, unreadable := m.file.Read()
	err := pgx.BeginFunc(ctx, s.db.Own(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(freezeLock)); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, selectMark, s.replica).Scan(&m.number); err != nil {
			return err
		}
		var there int64
		if err := tx.QueryRow(ctx, selectMark, kept.Replica).Scan(&there); err != nil {
			return err
		}
		switch {
		case unreadable != nil:
			s.host.Log.Error("how far PostgreSQL went when this sidecar saw it last cannot be read", "error", unreadable)
			return s.freezeBehind(ctx, tx, "whether PostgreSQL lacks what this sidecar saw there cannot be read in its state folder")
		case there < kept.Number:
			return s.freezeBehind(ctx, tx, "PostgreSQL lacks what this sidecar saw there: a backup was restored, or it is another database")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("comparing PostgreSQL with what this sidecar saw there: %w", err)
	}
	if kept.Replica == s.replica {
		m.number = max(m.number, kept.Number)
	}
	m.due.Store(true) // only now: what is frozen for it is there
	return nil
}

// freezeBehind freezes everything and ends all grants. What froze everything before is told with it.
func (s *Store) freezeBehind(ctx context.Context, tx pgx.Tx, why string) error {
	f := state.Freeze{Kind: api.FreezeAll, By: "bailiff", Reason: fmt.Sprintf("sidecar %s: %s. Freezes, revocations and answers may be "+
		"missing: freeze anew what must stay stopped, then run \"bailiff thaw --all\"", s.replica, why)}
	if err := tx.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&f.At); err != nil {
		return err
	}
	f.At = f.At.UTC()
	before, err := frozenBefore(ctx, tx, f)
	if err != nil {
		return err
	}
	f.Reason = s.host.Scrub(f.Reason + before)
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(endAllGrants)
	b.Queue(putFreeze, f.Key(), string(text))
	b.Queue(countFreezes)
	e := f.Event("frozen: " + f.Says())
	e.Timestamp = f.At
	if _, err := queueEvent(b, s.replica, e); err != nil {
		return err
	}
	s.host.Log.Error("everything is frozen: what this sidecar saw in PostgreSQL may be missing there", "why", why)
	return tx.SendBatch(ctx, b).Close()
}

// frozenBefore tells of a person's freeze in whose place one is put.
func frozenBefore(ctx context.Context, tx pgx.Tx, f state.Freeze) (string, error) {
	var text string
	err := tx.QueryRow(ctx, selectFreezeOfID, f.Key()).Scan(&text)
	if errors.Is(err, noRows) {
		return "", nil
	}
	var was state.Freeze
	if err == nil {
		err = state.Strict([]byte(text), &was)
	}
	if err != nil || was.By == f.By {
		return "", err
	}
	return "; before that " + was.Says(), nil
}

// advance marks what was seen until now, and keeps the mark. What fails is tried again within a second.
func (s *Store) advance(ctx context.Context) error {
	m := &s.marks
	if m.file == "" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.due.Swap(false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	tag, err := s.db.Own().Exec(ctx, advanceMark, s.replica, s.epoch, m.number+1)
	if err == nil && tag.RowsAffected() == 0 {
		err = errors.New("this sidecar's row is another's by now") // which the next beat finds
	}
	if err != nil {
		m.due.Store(true)
		return err
	}
	m.number++
	err = m.file.Write(watermark.Mark{Replica: s.replica, Number: m.number})
	if err != nil {
		m.due.Store(true)
	}
	if m.failing.Set(err) && err != nil {
		s.host.Log.Warn("how far PostgreSQL went cannot be kept: a backup that is restored while all sidecars are stopped may not be "+
			"seen", "file", string(m.file), "error", err)
	}
	return nil
}

// seeMarks takes in the marks of all replicas; showing is held.
func (s *Store) seeMarks(text string) error { return json.Unmarshal([]byte(text), &s.marks.all) }

// sayMarks says to a server that lacks commits how far others went, of which this sidecar shows all.
func (s *Store) sayMarks(b *pgx.Batch) {
	s.showing.RLock()
	defer s.showing.RUnlock()
	for id, number := range s.marks.all {
		if id != s.replica && number > 0 {
			b.Queue(sayMark, id, number)
		}
	}
}

// markEvery is how soon it is marked what was seen.
const markEvery = time.Second
