package audit

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

func (l *Log) send(ctx context.Context, e entry) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		l.tell(1, errClosed)
		return errClosed
	}
	select {
	case l.queue <- e:
		return nil
	case <-ctx.Done():
		err := fmt.Errorf("waiting for the decision log: %w", ctx.Err())
		l.tell(1, err)
		return err
	}
}

// tell tells the observer of n events.
func (l *Log) tell(n int64, err error) {
	if l.config.Observer == nil {
		return
	}
	for range n {
		l.config.Observer.Audited(err)
	}
}

// run is the one goroutine that writes.
func (l *Log) run() {
	defer close(l.ended)
	noted := time.NewTimer(noteDelay)
	noted.Stop()
	for {
		select {
		case first, open := <-l.queue:
			if !open {
				l.writer.commit()
				return
			}
			if l.write(l.batch(first)) {
				noted.Reset(noteDelay)
			}
		case <-noted.C:
			l.writer.commit()
		case do := <-l.asides:
			do()
		}
	}
}

// batch takes what has queued up behind the first entry. Those whom the last
// commit answered are let run first: they may have more for this one.
func (l *Log) batch(first entry) []entry {
	runtime.Gosched()
	batch, size := []entry{first}, len(first.line)
	for size < batchBytes && len(batch) < queueLength {
		select {
		case next, open := <-l.queue:
			if !open {
				return batch
			}
			batch, size = append(batch, next), size+len(next.line)
		default:
			return batch
		}
	}
	return batch
}

// write writes a batch and commits it if anyone waits; uncommitted says that the
// caller must see to that soon.
func (l *Log) write(batch []entry) (uncommitted bool) {
	first := l.writer.pendingLines() == 0
	segment := l.writer.at.segment
	err := l.writer.append(batch)
	if l.writer.at.segment != segment {
		l.keeper.hurry()
	}
	if err != nil {
		l.report(int64(len(batch)), err)
	} else if hasWaiter(batch) {
		err = l.writer.commit()
		first = false
	}
	if err == nil {
		l.end.add(batch)
	}
	for _, e := range batch {
		switch {
		case e.done != nil:
			e.done <- err
		case err != nil && e.lost != nil:
			e.lost(err)
		}
	}
	return err == nil && first
}

func hasWaiter(batch []entry) bool {
	for _, e := range batch {
		if e.done != nil {
			return true
		}
	}
	return false
}

// tellCommit tells how a commit of n lines ended.
func (l *Log) tellCommit(n int64, err error) {
	if err == nil {
		l.written.Store(new(l.writer.synced))
	}
	l.report(n, err)
}

// aside runs something between two writes.
func (l *Log) aside(do func() error) error {
	done := make(chan error, 1)
	l.asides <- func() { done <- do() }
	return <-done
}

// report tells how writing n lines ended.
func (l *Log) report(n int64, err error) {
	l.tell(n, err)
	l.health.written(err, l.writer.at.count, l.writer.synced.count)
}
