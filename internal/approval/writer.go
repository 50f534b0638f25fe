package approval

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// decide says what is to be done about a state, or why nothing is. It changes
// nothing itself.
type decide func(s *state, now time.Time) (step, error)

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

var errClosed = errors.New("the book of approvals is closed")

// do has the writer decide and returns when the outcome is on disk.
func (b *Book) do(ctx context.Context, d decide) error {
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
func (b *Book) run() {
	defer close(b.ended)
	for {
		select {
		case first := <-b.queue:
			b.commit(b.batch(first))
		case <-b.timer.C:
			b.commit([]*wish{{decide: b.sweep, done: make(chan error, 1)}})
		case <-b.closing:
			<-b.delivered
			b.commit(nil) // forgets what the decision log has
			return
		}
	}
}

// batch takes what has queued up behind the first wish. Those whom the last
// commit answered are let run first: they may have more for this one.
func (b *Book) batch(first *wish) []*wish {
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
func (b *Book) commit(batch []*wish) {
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
	}
	b.reach("shown")
	b.setTimer()
	reply(batch, nil)
	b.reach("told")
}

// stage decides each wish on the state that those before it leave.
func (b *Book) stage(batch []*wish) ([]step, error) {
	if err := b.mend(); err != nil {
		return nil, err
	}
	var steps []step
	take := func(t step) {
		if t.empty() {
			return
		}
		for i := range t.events {
			t.events[i].Timestamp = b.stamp()
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
	take(b.prune(b.now()))
	take(step{sent: b.outbox.takeSent()})
	return steps, nil
}

func (b *Book) write(steps []step) error {
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

// show lets readers, watchers and waiters see a step that is on disk.
func (b *Book) show(t step) {
	b.mu.Lock()
	b.seen.apply(t)
	grants := len(b.seen.grants)
	for _, i := range t.items {
		if !i.pending() {
			b.wake(i.Entry.ID)
		}
	}
	b.mu.Unlock()
	for _, tell := range t.told {
		tell(b.config.Observer)
	}
	if len(t.grants)+len(t.ended) > 0 {
		b.config.Observer.GrantsActive(grants)
	}
	b.changes.Tell(t.changes)
	b.plan(t)
}

// plan remembers the earliest deadline of a step.
func (b *Book) plan(t step) {
	for _, i := range t.items {
		if i.pending() {
			b.due(i.Entry.Expires)
		}
	}
	for _, h := range t.grants {
		b.due(h.Grant.Expires)
	}
}

func (b *Book) due(at time.Time) {
	if !at.IsZero() && (b.deadline.IsZero() || at.Before(b.deadline)) {
		b.deadline = at
	}
}

func (b *Book) setTimer() {
	wait := sweepAtMost
	if !b.deadline.IsZero() {
		wait = min(wait, max(0, time.Until(b.deadline)))
	}
	if b.Err() != nil {
		wait = mendDelay
	} else if b.outbox.hasSent() {
		wait = min(wait, sentDelay)
	}
	b.timer.Reset(wait)
}

// fail keeps everyone out until the store works again: what memory holds may not
// be what the disk does.
func (b *Book) fail(err error) error {
	err = fmt.Errorf("%w: %w; nothing is granted until it works again", ErrStore, err)
	if b.outage.Set(err) {
		b.config.Log.Error(err.Error())
	}
	b.failed = time.Now()
	return err
}

// mend opens a store that failed anew, and takes what is on disk for the truth.
func (b *Book) mend() error {
	failure := b.Err()
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
