package shared

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/fleet/watermark"
	"github.com/bailiff-dev/bailiff/internal/record/outage"
)

// Config is a store that the books of several sidecars have in common.
type Config struct {
	DB *postgres.DB
	// Replica is this sidecar's name among them.
	Replica string
	// Froze stops what runs and is frozen by now. It is called before others are told that a
	// freeze is in force here.
	Froze func(context.Context)
	// Moved tells the store anew what this sidecar knows of its own there, since that may be missing: a standby
	// was promoted, or a backup restored. It is called while nothing is granted, again after a fault, and bounds
	// the time of its steps itself; it may be nil.
	Moved func(context.Context) error
	// Mark is where it is kept how far this sidecar saw the store go. Without one it is not seen at a start that
	// the store lacks commits.
	Mark watermark.File
	// Again does a part of the start, again while the database does not answer; nil does it once.
	Again func(part func(context.Context) error) error
}

const (
	// stepTime is how long a step may take, with what it waits for others; lookTime is how long
	// a look at what they did may.
	stepTime = 5 * time.Second
	lookTime = 2 * time.Second
	// stepAttempts is how often a step is decided anew because another was faster.
	stepAttempts = 20
	// beatEvery is how often a replica says that it lives and looks for what others did;
	// pollEvery is how often it looks where it is not notified.
	beatEvery = time.Second
	pollEvery = 200 * time.Millisecond
	// deafAfter is how long a replica may go by what it saw last. One that has not been heard
	// for so long denies by itself.
	deafAfter = 5 * time.Second
	// confirmEvery is how often a freeze looks who has confirmed it.
	confirmEvery = 20 * time.Millisecond
	// keepEvery is how often old rows are removed.
	keepEvery = 10 * time.Second
)

// Store is a store in a database that other replicas write too. Each step is a
// transaction of its own that loads what the step needs, under locks. What the book shows
// follows the tables.
type Store struct {
	host    state.Host
	db      *postgres.DB
	replica string
	epoch   int64
	froze   func(context.Context)
	moved   func(context.Context) error

	// showing is held for reading from before a step is committed until it is shown, so that
	// what others did is never shown in between.
	showing sync.RWMutex
	// following is held while the tables are read; these are its own.
	following sync.Mutex
	horizon   string // of transactions: what changed before it is shown already
	reload    bool   // all is to be read anew
	unsettled bool   // another server answers, and it does not know yet what is known here; the rounds' own

	freezes  atomic.Int64  // the version of the freezes that is shown
	skew     atomic.Int64  // of the database's clock against this one's, in nanoseconds
	silences atomic.Uint64 // how often no beat was good for deafAfter
	heard    atomic.Int64  // when the last good beat began, in nanoseconds since began
	began    time.Time     // by the monotonic clock
	refusing atomic.Int64  // until when nothing is granted since another server answers, in nanoseconds since began
	lost     atomic.Bool   // events may be in the outbox that are not known here
	deaf     atomic.Bool   // no notifications come
	hasty    atomic.Bool   // the next beat is due at once
	fenced   atomic.Bool   // another sidecar has this replica's name
	failed   outage.Outage // of the last beat
	woken    chan struct{}
	dirty    chan struct{}

	marks    marks
	turns    turns
	lock     sync.Mutex
	stamped  state.Stamps
	deadline state.Deadline

	steps   sync.WaitGroup
	running sync.WaitGroup
	end     context.CancelFunc
}

// Open takes the replica's name and shows what the tables hold.
func Open(h state.Host, c *Config) (*Store, error) {
	s := &Store{host: h, db: c.DB, replica: c.Replica, froze: c.Froze, began: time.Now(), reload: true,
		woken: make(chan struct{}, 1), dirty: make(chan struct{}, 1), marks: marks{file: c.Mark}}
	if s.froze == nil {
		s.froze = func(context.Context) {}
	}
	if s.moved = c.Moved; s.moved == nil {
		s.moved = func(context.Context) error { return nil }
	}
	again := c.Again
	if again == nil {
		again = func(part func(context.Context) error) error { return part(context.Background()) }
	}
	s.lost.Store(true)
	for _, part := range []func(context.Context) error{within(s.db.Check), within(s.settleFirst), within(s.enlist), within(s.compareMark),
		s.round} {
		if err := again(part); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// within bounds a part of a start. Reading what there is, is bounded by the page.
func within(part func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*deafAfter)
		defer cancel()
		return part(ctx)
	}
}

// enlist takes the replica's name. One that another sidecar lives under is not taken.
func (s *Store) enlist(ctx context.Context) error {
	var taken error
	for {
		err := s.db.Own().QueryRow(ctx, takeName, s.replica, deafAfter.Seconds()).Scan(&s.epoch)
		switch {
		case err == nil:
			return nil
		case taken != nil && ctx.Err() != nil:
			return taken
		case !errors.Is(err, noRows):
			return fmt.Errorf("taking the name of replica %q: %w", s.replica, err)
		}
		taken = fmt.Errorf("another sidecar uses PostgreSQL under the name of replica %q: give each a name of its own (store.replica)",
			s.replica)
		select {
		case <-ctx.Done():
			return taken
		case <-time.After(pollEvery):
		}
	}
}

// Start follows the others from now on, and ends what ran out of time before; if that fails, another sidecar does it too,
// and this one again.
func (s *Store) Start(starting context.Context) error {
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	s.running.Go(func() { s.db.Notify(ctx, s.dirty) })
	s.running.Go(func() { s.db.Listen(ctx, s.wakeUp, func(works bool) { s.deaf.Store(!works) }) })
	s.running.Go(func() { s.run(ctx) })
	_ = s.sweep(starting)
	return nil
}

// Standing is the epoch of this sidecar's name, and how often it was silent for so long that others may have taken over
// what was its own.
func (s *Store) Standing() (epoch int64, silences uint64) { return s.epoch, s.silences.Load() }

// Warnings say what deserves a second look, a sentence each.
func (s *Store) Warnings() []string {
	if s.deaf.Load() {
		return []string{"what other sidecars do is seen up to 200 ms later: PostgreSQL passes no notifications on"}
	}
	return nil
}

func (s *Store) wakeUp() { signal(s.woken) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run follows the others, beats and sweeps.
func (s *Store) run(ctx context.Context) {
	var beaten, kept, markAt time.Time
	for ctx.Err() == nil {
		if s.hasty.Swap(false) || time.Since(beaten) >= beatEvery {
			beaten = time.Now()
			s.failing(s.round(ctx))
		} else {
			_, err := s.follow(ctx)
			s.failing(err)
		}
		if time.Since(markAt) >= markEvery {
			markAt = time.Now()
			s.failing(s.advance(ctx))
		}
		if s.isDue() {
			s.failing(s.sweep(ctx))
		}
		if time.Since(kept) >= keepEvery {
			kept = time.Now()
			s.failing(s.Keep(ctx))
		}
		s.rest(ctx, time.Until(beaten.Add(beatEvery)))
	}
}

// rest waits until something is to be done.
func (s *Store) rest(ctx context.Context, wait time.Duration) {
	if s.deaf.Load() {
		wait = min(wait, pollEvery)
	}
	s.lock.Lock()
	if at := s.deadline.At; !at.IsZero() {
		wait = min(wait, max(confirmEvery, at.Sub(s.Now())))
	}
	s.lock.Unlock()
	timer := time.NewTimer(max(0, wait))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.woken:
	case <-ctx.Done():
	}
}

// failing takes in how an attempt to follow ended.
func (s *Store) failing(err error) {
	if err != nil && !errors.Is(err, context.Canceled) && s.failed.Set(err) {
		s.host.Log.Error("the shared store of approvals does not answer", "error", err)
	}
}

// round follows what others did, stops what they froze, and says that this replica lives and
// what it has seen.
func (s *Store) round(ctx context.Context) error {
	err := s.lookAndBeat(ctx)
	if errors.Is(err, postgres.ErrMoved) || s.unsettled {
		return s.acceptServer(ctx)
	}
	return err
}

// lookAndBeat is a round with the server that was accepted. While that does not know yet what is known here,
// others are not told that this replica lives.
func (s *Store) lookAndBeat(ctx context.Context) error {
	begun := time.Since(s.began)
	freezes, err := s.follow(ctx)
	if err != nil || s.unsettled {
		return err
	}
	return s.beat(ctx, begun, freezes)
}

// beat says which freezes are in force here.
func (s *Store) beat(ctx context.Context, begun time.Duration, freezes int64) error {
	s.following.Lock() // so that no look finds what is just being removed
	defer s.following.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	sent := s.host.Outbox.TakeSent()
	tag, err := s.db.Own().Exec(ctx, beat, s.replica, s.epoch, freezes, numbersOf(sent))
	if err != nil {
		s.host.Outbox.PutBack(sent)
		return err
	}
	if tag.RowsAffected() == 0 {
		s.fenced.Store(true)
		return errFenced
	}
	if begun-time.Duration(s.heard.Load()) >= deafAfter {
		s.silences.Add(1) // before it counts as heard
	}
	s.heard.Store(int64(begun))
	if s.failed.Err() != nil {
		s.failed.Set(nil)
		s.host.Log.Info("the shared store of approvals answers again")
	}
	return nil
}

func numbersOf(sent []uint64) []int64 {
	numbers := make([]int64, len(sent))
	for i, n := range sent {
		numbers[i] = int64(n)
	}
	return numbers
}

var errFenced = errors.New("another sidecar has taken the name of this replica; give each a name of its own (store.replica) and " +
	"start this one anew")

// Err is why what is shown may be old, so that nothing may be granted by it.
func (s *Store) Err() error {
	if s.fenced.Load() {
		return fmt.Errorf("%w: %w", state.ErrStore, errFenced)
	}
	if s.refuses() {
		return fmt.Errorf("%w: PostgreSQL: %w; nothing is granted for %s from then on", state.ErrStore, postgres.ErrMoved, deafAfter)
	}
	if time.Since(s.began)-time.Duration(s.heard.Load()) < deafAfter {
		return nil
	}
	why := s.failed.Err()
	if why == nil {
		why = errors.New("it has not answered for too long")
	}
	return fmt.Errorf("%w: PostgreSQL: %w; nothing is granted until it answers again", state.ErrStore, postgres.WithoutAddress(why))
}

// refuses says whether another server was accepted so recently that not all sidecars may know of it.
func (s *Store) refuses() bool { return time.Since(s.began) < time.Duration(s.refusing.Load()) }

// Now is the time by the database's clock.
func (s *Store) Now() time.Time {
	return time.Now().Add(time.Duration(s.skew.Load())).UTC().Round(0)
}

// Refresh shows what others have written until now.
func (s *Store) Refresh() {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	_, err := s.follow(ctx)
	s.failing(err)
}

// isDue says whether something has run out of time.
func (s *Store) isDue() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return !s.deadline.At.IsZero() && !s.Now().Before(s.deadline.At)
}

// sweep ends what has run out of time; while nothing is granted it is left for later.
func (s *Store) sweep(ctx context.Context) error {
	if s.refuses() {
		return nil
	}
	err := s.Do(ctx, state.Need{Ended: true}, func(st *state.State, now time.Time) (state.Step, error) {
		t, _ := state.Sweep(st, now)
		return t, nil
	})
	s.host.View.Look(func(seen *state.State) {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.deadline = seen.Deadline()
	})
	return err
}

// Do decides a step on what it needs, anew where another replica was faster.
func (s *Store) Do(ctx context.Context, n state.Need, d state.Decide) error {
	s.steps.Add(1)
	defer s.steps.Done()
	select {
	case <-s.host.Closing:
		return state.ErrClosed
	default:
	}
	if err := s.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var err error
	for attempt := range stepAttempts {
		if err = s.attempt(ctx, n, d); !errors.Is(err, errMoved) {
			if err == nil && isOperators(&n) {
				s.failing(s.advance(ctx)) // what a person was told is done must not be lost unseen
			}
			return err
		}
		time.Sleep(rand.N(time.Duration(attempt+1) * time.Millisecond))
	}
	return fmt.Errorf("%w: %w", state.ErrStore, err)
}

// errMoved says that a row was changed between loading and writing it.
var errMoved = errors.New("others change the same approvals and grants all the time")

// attempt is one transaction. It goes on when its caller is gone, since half of it would not
// be undone.
func (s *Store) attempt(ctx context.Context, n state.Need, d state.Decide) error {
	conn, leave, err := s.connection(ctx, n)
	if err != nil {
		return s.fault(err)
	}
	defer leave()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime)
	defer cancel()
	tx, err := s.begin(ctx, conn, n)
	if err != nil {
		return s.fault(err)
	}
	defer tx.release()
	t, err := tx.decide(d)
	if err != nil || t.Empty() {
		return err
	}
	s.lock.Lock()
	for i := range t.Events {
		t.Events[i].Timestamp = s.stamped.Next(tx.now)
	}
	s.lock.Unlock()
	s.host.Reach("staged")
	return s.commit(ctx, tx, t)
}

// connection waits for its turn, first among those that need the same locks. By then the store
// may have failed.
func (s *Store) connection(ctx context.Context, n state.Need) (conn *pgxpool.Conn, leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, deafAfter)
	defer cancel()
	if leave, err = s.turns.take(ctx, locksOf(&n)); err != nil {
		return nil, nil, err
	}
	if conn, err = s.db.Pool().Acquire(ctx); err != nil {
		leave()
	}
	return conn, leave, err
}

// fault is why a step failed as agents are told. The log has the rest.
func (s *Store) fault(err error) error {
	if errors.Is(err, errMoved) {
		return err
	}
	s.host.Log.Warn("a step of the shared store failed", "error", err)
	return fmt.Errorf("%w: PostgreSQL: %w", state.ErrStore, postgres.WithoutAddress(err))
}

// commit writes a step and shows it.
func (s *Store) commit(ctx context.Context, tx *sharedTx, t state.Step) error {
	s.showing.RLock()
	defer s.showing.RUnlock()
	numbers, err := tx.write(ctx, t)
	if err != nil {
		s.lost.Store(true) // it may have been committed all the same
		s.wakeUp()
		return s.fault(err)
	}
	s.host.Reach("committed")
	s.host.Outbox.Add(numbers, t.Events)
	s.host.View.Show(t)
	if t.IsMarked() {
		s.marks.due.Store(true)
	}
	s.lock.Lock()
	s.deadline.Plan(t)
	s.lock.Unlock()
	signal(s.dirty)
	s.host.Reach("shown")
	return nil
}

// Close leaves the replica's name to the next.
func (s *Store) Close() error {
	<-s.host.Delivered
	s.steps.Wait()
	if s.end != nil {
		s.end()
	}
	s.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	if s.failed.Err() == nil {
		s.failing(s.advance(ctx))
	}
	if _, err := s.db.Own().Exec(ctx, leave, s.replica, s.epoch, numbersOf(s.host.Outbox.TakeSent())); err != nil {
		s.host.Log.Warn("PostgreSQL was not told that this sidecar ends: its name is free some seconds later", "error", err)
	}
	return nil
}
