package file

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/record/outage"
)

// wish waits for the writer.
type wish struct {
	decide state.Decide
	done   chan error
	err    error
}

const (
	// queueLength is how many wishes may wait, batchLength how many share one
	// transaction.
	queueLength = 1024
	batchLength = 256
	// sweepAtMost is how long a deadline may be overlooked when the clock jumps.
	sweepAtMost = time.Minute
	// sentDelay is how long events that the decision log has stay in the outbox
	// if nothing else is to be written.
	sentDelay = time.Second
	// mendDelay is how long a store that failed is left alone.
	mendDelay = time.Second
)

// Store is a store in a file of its own, which one process has open at a time.
type Store struct {
	host   state.Host
	path   string
	outage outage.Outage
	queue  chan *wish
	ended  chan struct{} // closed when the writer has ended
	store  atomic.Pointer[Records]

	// These are the writer's alone. ahead holds what is about to be written too.
	ahead    *state.State
	deadline state.Deadline
	failed   time.Time
	stamped  state.Stamps
	timer    *time.Timer
}

// Open opens the file of a book and shows what it holds.
func Open(h state.Host, path string) (*Store, error) {
	f := &Store{host: h, path: path, queue: make(chan *wish, queueLength), ended: make(chan struct{}), timer: time.NewTimer(sweepAtMost)}
	if err := f.open(); err != nil {
		return nil, err
	}
	return f, nil
}

// Start begins to write, and ends what ran out of time before.
func (f *Store) Start(ctx context.Context) error {
	go f.run()
	return f.Do(ctx, state.Need{}, f.sweeping)
}

// Close returns once all that is waited for was decided.
func (f *Store) Close() error {
	<-f.ended
	f.timer.Stop()
	return f.store.Load().Close()
}

// Claim reads the text of a claim. If that shows that the file was damaged, the store has failed.
func (f *Store) Claim(seq uint64) (text state.ClaimText, found bool, err error) {
	text, found, err = f.store.Load().claim(seq)
	if !errors.Is(err, errDamaged) {
		return text, found, err
	}
	err = fmt.Errorf("%w: %w", state.ErrStore, err)
	if f.outage.Set(err) {
		f.host.Log.Error(err.Error())
	}
	return text, found, err
}

// Refresh has nothing to do where no other process writes.
func (f *Store) Refresh() {}

// Confirm has nothing to wait for: the one book that there is goes by a freeze at once.
func (f *Store) Confirm(context.Context) ([]string, error) { return nil, nil }

// Now is the time by the wall's clock, since it is compared with stored ones.
func (f *Store) Now() time.Time { return time.Now().UTC().Round(0) }

// Err is why nothing may be granted; nil if that is not so.
func (f *Store) Err() error { return f.outage.Err() }

// Standing is nothing where no other sidecar shares the store.
func (f *Store) Standing() (epoch int64, silences uint64) { return 0, 0 }

// Warnings are none.
func (f *Store) Warnings() []string { return nil }

// sweeping ends what has run out of time.
func (f *Store) sweeping(s *state.State, now time.Time) (t state.Step, err error) {
	t, f.deadline = state.Sweep(s, now)
	return t, nil
}

// repair tells the operator of a store that cannot be read, or is gone, what to do.
func repair(path string) string {
	return fmt.Sprintf("; restore no older copy, in which grants that were used come back and later freezes are missing; "+
		"to begin a new one, move the file and %s away: pending approvals and grants are then lost, which allows nothing that was denied, "+
		"but freezes are lost too, so freeze anew what must stay stopped", marker(path))
}

// open opens the store and takes what it holds for the truth.
func (f *Store) open() error {
	s, c, err := OpenRecords(f.path)
	if err != nil {
		return err
	}
	f.store.Store(s)
	f.ahead = c.State(s.seal.Approvals)
	f.deadline = state.Deadline{}
	f.deadline.Plan(state.Step{Items: c.Items, Grants: c.Grants})
	f.host.Outbox.Reset(c.Numbers, c.Events)
	f.host.View.ShowAnew(c.State(s.seal.Approvals), false)
	return nil
}

// reopen opens the store anew after it failed.
func (f *Store) reopen() error {
	_ = f.store.Load().Close() // it has failed already
	if err := rewrite(f.path); err != nil {
		return fmt.Errorf("writing %s anew: %w", f.path, err)
	}
	return f.open()
}

// Do has the writer decide and returns when the outcome is on disk. It decides on the whole
// state.
func (f *Store) Do(ctx context.Context, _ state.Need, d state.Decide) error {
	w := &wish{decide: d, done: make(chan error, 1)}
	select {
	case f.queue <- w:
	case <-f.host.Closing:
		return state.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	case <-f.ended:
		return w.outcome(state.ErrClosed)
	case <-ctx.Done():
		return w.outcome(ctx.Err())
	}
}

// outcome is what the writer said, or err if it has not said anything.
func (w *wish) outcome(err error) error {
	select {
	case err = <-w.done:
	default:
	}
	return err
}

// run is the one goroutine that writes.
func (f *Store) run() {
	defer close(f.ended)
	for {
		select {
		case first := <-f.queue:
			f.commit(f.batch(first))
		case <-f.timer.C:
			f.commit([]*wish{{decide: f.sweeping, done: make(chan error, 1)}})
		case <-f.host.Closing:
			<-f.host.Delivered
			f.commit(nil) // forgets what the decision log has
			return
		}
	}
}

// batch takes what has queued up behind the first wish. Those whom the last
// commit answered are let run first: they may have more for this one.
func (f *Store) batch(first *wish) []*wish {
	runtime.Gosched()
	batch := []*wish{first}
	for len(batch) < batchLength {
		select {
		case next := <-f.queue:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// commit decides a batch, writes what comes of it in one transaction, and only
// then lets anyone see it.
func (f *Store) commit(batch []*wish) {
	steps, err := f.stage(batch)
	if err == nil && len(steps) > 0 {
		f.host.Reach("staged")
		err = f.write(steps)
	}
	if err != nil {
		f.setTimer()
		reply(batch, err)
		return
	}
	f.host.Reach("committed")
	for _, t := range steps {
		f.host.View.Show(t)
		f.deadline.Plan(t)
	}
	f.host.Reach("shown")
	f.setTimer()
	reply(batch, nil)
	f.host.Reach("told")
}

// stage decides each wish on the state that those before it leave.
func (f *Store) stage(batch []*wish) ([]state.Step, error) {
	if err := f.mend(); err != nil {
		return nil, err
	}
	var steps []state.Step
	take := func(t state.Step) {
		if t.Empty() {
			return
		}
		for i := range t.Events {
			t.Events[i].Timestamp = f.stamped.Next(f.Now())
		}
		f.ahead.Apply(t)
		steps = append(steps, t)
	}
	for _, w := range batch {
		t, err := w.decide(f.ahead, f.Now())
		if w.err = err; err == nil {
			take(t)
		}
	}
	take(f.ahead.Prune(f.Now()))
	take(state.Step{Sent: f.host.Outbox.TakeSent()})
	return steps, nil
}

func (f *Store) write(steps []state.Step) error {
	numbers, err := f.store.Load().write(steps)
	if err != nil {
		return f.fail(err)
	}
	for _, t := range steps {
		f.host.Outbox.Add(numbers[:len(t.Events)], t.Events)
		numbers = numbers[len(t.Events):]
	}
	return nil
}

func reply(batch []*wish, err error) {
	for _, w := range batch {
		if err != nil {
			w.err = err
		}
		w.done <- w.err
	}
}

func (f *Store) setTimer() {
	wait := sweepAtMost
	if !f.deadline.At.IsZero() {
		wait = min(wait, max(0, time.Until(f.deadline.At)))
	}
	if f.Err() != nil {
		wait = mendDelay
	} else if f.host.Outbox.HasSent() {
		wait = min(wait, sentDelay)
	}
	f.timer.Reset(wait)
}

// fail keeps everyone out until the store works again: what memory holds may not
// be what the disk does.
func (f *Store) fail(err error) error {
	err = fmt.Errorf("%w: %w; nothing is granted until it works again", state.ErrStore, err)
	if f.outage.Set(err) {
		f.host.Log.Error(err.Error())
	}
	f.failed = time.Now()
	return err
}

// mend opens a store that failed anew, and takes what is on disk for the truth.
func (f *Store) mend() error {
	failure := f.Err()
	if failure == nil {
		return nil
	}
	if time.Since(f.failed) < mendDelay {
		return failure
	}
	if err := f.reopen(); err != nil {
		return f.fail(err)
	}
	f.outage.Set(nil)
	f.host.Log.Info("the store of approvals works again")
	return nil
}
