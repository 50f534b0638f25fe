package approval

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// wish waits for the writer.
type wish struct {
	decide decide
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

// fileStore is a store in a file of its own, which one process has open at a time.
type fileStore struct {
	*Book
	queue chan *wish
	ended chan struct{} // closed when the writer has ended
	store atomic.Pointer[store]

	// These are the writer's alone. ahead holds what is about to be written too.
	ahead    *state
	deadline deadline
	failed   time.Time
	stamped  stamps
	timer    *time.Timer
}

var _ storage = (*fileStore)(nil)

// openFile opens the file of a book and shows what it holds.
func openFile(b *Book) (*fileStore, error) {
	f := &fileStore{Book: b, queue: make(chan *wish, queueLength), ended: make(chan struct{}), timer: time.NewTimer(sweepAtMost)}
	if err := f.open(); err != nil {
		return nil, err
	}
	return f, nil
}

func (b *fileStore) start() { go b.run() }

func (b *fileStore) close() error {
	<-b.ended
	b.timer.Stop()
	return b.store.Load().close()
}

func (b *fileStore) claim(seq uint64) (claimText, bool, error) { return b.store.Load().claim(seq) }

// refresh has nothing to do where no other process writes.
func (b *fileStore) refresh() {}

// confirm has nothing to wait for: the one book that there is goes by a freeze at once.
func (b *fileStore) confirm(context.Context) ([]string, error) { return nil, nil }

// now is the time by the wall's clock, since it is compared with stored ones.
func (b *fileStore) now() time.Time { return time.Now().UTC().Round(0) }

func (b *fileStore) err() error { return b.outage.Err() }

// sweep ends what has run out of time.
func (b *fileStore) sweep(ctx context.Context) error { return b.do(ctx, need{}, b.sweeping) }

func (b *fileStore) sweeping(s *state, now time.Time) (t step, err error) {
	t, b.deadline = sweep(s, now)
	return t, nil
}

// repair tells the operator of a store that cannot be read, or is gone, what to do.
func repair(path string) string {
	return fmt.Sprintf("; restore no older copy, in which grants that were used come back and later freezes are missing; "+
		"to begin a new one, move the file and %s away: pending approvals and grants are then lost, which allows nothing that was denied, "+
		"but freezes are lost too, so freeze anew what must stay stopped", marker(path))
}

// open opens the store and takes what it holds for the truth.
func (b *fileStore) open() error {
	s, c, err := openStore(b.config.Path)
	if err != nil {
		return fmt.Errorf("opening the store of approvals %s: %w%s", b.config.Path, err, repair(b.config.Path))
	}
	b.store.Store(s)
	b.ahead = c.state(s.seal.Approvals)
	b.deadline = deadline{}
	b.deadline.plan(step{items: c.items, grants: c.grants})
	b.outbox.reset(c.numbers, c.events)
	b.reconcile(c.state(s.seal.Approvals), func(i *item) { resolved(i, string(i.Entry.State))(b.config.Observer) })
	return nil
}

// reopen opens the store anew after it failed.
func (b *fileStore) reopen() error {
	_ = b.store.Load().close() // it has failed already
	if err := rewrite(b.config.Path); err != nil {
		return fmt.Errorf("writing %s anew: %w", b.config.Path, err)
	}
	return b.open()
}

var errClosed = errors.New("the book of approvals is closed")

// do has the writer decide and returns when the outcome is on disk. It decides on the whole
// state.
func (b *fileStore) do(ctx context.Context, _ need, d decide) error {
	w := &wish{decide: d, done: make(chan error, 1)}
	select {
	case b.queue <- w:
	case <-b.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	case <-b.ended:
		return w.outcome(errClosed)
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
func (b *fileStore) run() {
	defer close(b.ended)
	for {
		select {
		case first := <-b.queue:
			b.commit(b.batch(first))
		case <-b.timer.C:
			b.commit([]*wish{{decide: b.sweeping, done: make(chan error, 1)}})
		case <-b.closing:
			<-b.delivered
			b.commit(nil) // forgets what the decision log has
			return
		}
	}
}

// batch takes what has queued up behind the first wish. Those whom the last
// commit answered are let run first: they may have more for this one.
func (b *fileStore) batch(first *wish) []*wish {
	runtime.Gosched()
	batch := []*wish{first}
	for len(batch) < batchLength {
		select {
		case next := <-b.queue:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// commit decides a batch, writes what comes of it in one transaction, and only
// then lets anyone see it.
func (b *fileStore) commit(batch []*wish) {
	steps, err := b.stage(batch)
	if err == nil && len(steps) > 0 {
		b.reach("staged")
		err = b.write(steps)
	}
	if err != nil {
		b.setTimer()
		reply(batch, err)
		return
	}
	b.reach("committed")
	for _, t := range steps {
		b.show(t)
		b.deadline.plan(t)
	}
	b.reach("shown")
	b.setTimer()
	reply(batch, nil)
	b.reach("told")
}

// stage decides each wish on the state that those before it leave.
func (b *fileStore) stage(batch []*wish) ([]step, error) {
	if err := b.mend(); err != nil {
		return nil, err
	}
	var steps []step
	take := func(t step) {
		if t.empty() {
			return
		}
		for i := range t.events {
			t.events[i].Timestamp = b.stamped.next(b.now())
		}
		b.ahead.apply(t)
		steps = append(steps, t)
	}
	for _, w := range batch {
		t, err := w.decide(b.ahead, b.now())
		if w.err = err; err == nil {
			take(t)
		}
	}
	take(b.ahead.prune(b.now()))
	take(step{sent: b.outbox.takeSent()})
	return steps, nil
}

func (b *fileStore) write(steps []step) error {
	numbers, err := b.store.Load().write(steps)
	if err != nil {
		return b.fail(err)
	}
	for _, t := range steps {
		b.outbox.add(numbers[:len(t.events)], t.events)
		numbers = numbers[len(t.events):]
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

func (b *fileStore) setTimer() {
	wait := sweepAtMost
	if !b.deadline.at.IsZero() {
		wait = min(wait, max(0, time.Until(b.deadline.at)))
	}
	if b.err() != nil {
		wait = mendDelay
	} else if b.outbox.hasSent() {
		wait = min(wait, sentDelay)
	}
	b.timer.Reset(wait)
}

// fail keeps everyone out until the store works again: what memory holds may not
// be what the disk does.
func (b *fileStore) fail(err error) error {
	err = fmt.Errorf("%w: %w; nothing is granted until it works again", ErrStore, err)
	if b.outage.Set(err) {
		b.config.Log.Error(err.Error())
	}
	b.failed = time.Now()
	return err
}

// mend opens a store that failed anew, and takes what is on disk for the truth.
func (b *fileStore) mend() error {
	failure := b.err()
	if failure == nil {
		return nil
	}
	if time.Since(b.failed) < mendDelay {
		return failure
	}
	if err := b.reopen(); err != nil {
		return b.fail(err)
	}
	b.outage.Set(nil)
	b.config.Log.Info("the store of approvals works again")
	return nil
}
