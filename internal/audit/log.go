// Package audit is the decision log: what was asked, what was decided, what
// became of it, one JSON line an event, in files that show when they were
// tampered with.
//
// # On disk
//
// The lines are in {state_dir}/decisions/NNNNNNNN-YYYY-MM-DD.jsonl, segments in
// the order of their names, a new one each day (UTC) and whenever the last is
// full. Each line ends with
//
//	,"prev_hash":"P","hash":"H"}}
//
// where P is the hash of the line before (64 zeros for the first of all) and H
// is the HMAC-SHA256, in lower-case hexadecimal, of the line's bytes from its
// beginning to P's last digit. As P is among these bytes, H covers everything
// before it. The key is in {state_dir}/audit/key, made at the first start.
// {state_dir}/audit/head holds how many lines there are, the last hash and where
// that line ends, under an HMAC too: two copies written in turns, so that one is
// always whole.
//
// # Promised
//
//   - [Log.Record] returns nil only when the line is on disk. Lines that wait
//     together share one write and one fsync.
//   - [Log.Note] keeps its place among the others, waits for nobody unless the
//     queue is full, drops nothing, and is on disk soon after.
//   - Known secrets are scrubbed before a line is hashed.
//   - The head is written after the lines it counts are on disk, so after a crash
//     at any point it may lag the log but never leads it. [Open] verifies and
//     adopts what lies beyond the head, and cuts off a last line that was torn.
//     Anything else that does not fit is an error: a log that was tampered with is
//     never continued in silence.
//   - A failed write leaves no partial line, fails whoever waits, and is tried
//     anew with the next event.
//   - [Verify] finds a line that was edited, removed, added, reordered, or cut off
//     the end, and names its place.
//
// Whoever holds the key can write a log that verifies; ship the lines elsewhere
// if the machine's owner is not to be trusted.
//
// Not here: what an event says (package bailiff), who may read it (gateway).
package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/bailiff-dev/bailiff"
)

// Observer is told of every event once it is on disk, with a nil error, or when
// it could not be written.
type Observer interface{ Audited(err error) }

// Config is what a Log needs; only StateDir is required.
type Config struct {
	// StateDir is where the folders decisions and audit are, or will be.
	StateDir string
	// Scrub returns a text without known secrets. It is called concurrently.
	Scrub    func([]byte) []byte
	Observer Observer
	Log      *slog.Logger
	// SegmentBytes is the size from which a new segment is begun; 64 MiB if zero.
	SegmentBytes int64
}

// Log is an open decision log. It may be used concurrently.
type Log struct {
	Config
	queue      chan entry
	writer     *writer
	unfinished []Unfinished
	end        recent
	failure    atomic.Pointer[error]

	mu     sync.RWMutex // write-locked to close the queue, read-locked to send to it
	closed bool
	ended  chan struct{}
}

// entry is a line on its way to the writer; done is nil if nobody waits for it.
type entry struct {
	line    []byte
	session string
	done    chan<- error
}

const (
	defaultSegment = 64 << 20
	// queueLength is how many lines may wait for the writer.
	queueLength = 1024
	// batchBytes is how much goes into one write.
	batchBytes = 4 << 20
	// noteDelay is how long a noted line may wait for its fsync.
	noteDelay = 100 * time.Millisecond
)

var errClosed = errors.New("recording an event: the decision log is closed")

// NewID returns an id for a decision; ids sort by the time they were made.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Open opens the decision log, or makes one if there is none. The caller must
// hold the lock of [LockState], and [Log.Close] the log in the end.
func Open(c Config) (*Log, error) {
	if c.StateDir == "" {
		return nil, errors.New("audit config lacks StateDir")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.SegmentBytes == 0 {
		c.SegmentBytes = defaultSegment
	}
	w, torn, err := recoverWriter(c.StateDir, c.SegmentBytes)
	if err != nil {
		return nil, fmt.Errorf("opening the decision log: %w", err)
	}
	l := &Log{Config: c, queue: make(chan entry, queueLength), writer: w, ended: make(chan struct{})}
	if l.unfinished, err = unfinished(c.StateDir, time.Now().Add(-unfinishedFor)); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the decision log: %w", err), w.close())
	}
	if err := l.end.load(c.StateDir); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the decision log: %w", err), w.close())
	}
	go l.run()
	l.noteTorn(torn)
	return l, nil
}

// noteTorn leaves a line that says what Open cut off.
func (l *Log) noteTorn(bytes int64) {
	if bytes == 0 {
		return
	}
	message := fmt.Sprintf("a line of %d bytes that an earlier run had not finished was cut off the decision log", bytes)
	l.Log.Warn(message)
	l.Note(bailiff.Event{DecisionID: NewID(), Timestamp: time.Now(), Custom: bailiff.Custom{Event: bailiff.ReloadEvent, Message: message}})
}

// Record writes an event and returns nil once it is on disk. If ctx ends first,
// the event may or may not be written.
func (l *Log) Record(ctx context.Context, e bailiff.Event) error {
	line, err := l.line(e)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	if err := l.send(ctx, entry{line, e.Custom.Session, done}); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("recording an event: %w", ctx.Err())
	}
}

// Note writes an event behind those before it and does not wait for the disk.
func (l *Log) Note(e bailiff.Event) {
	line, err := l.line(e)
	if err == nil {
		err = l.send(context.Background(), entry{line: line, session: e.Custom.Session})
	}
	if err != nil {
		l.Log.Error("an event is missing from the decision log", "event", e.Custom.Event, "decision_id", e.DecisionID, "error", err)
	}
}

// Err is why the last event could not be written; it is nil when it could.
func (l *Log) Err() error {
	if failure := l.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// Unfinished returns the requests that an earlier run let run, at since or
// later, and whose end it did not record.
func (l *Log) Unfinished(since time.Time) []Unfinished {
	var recent []Unfinished
	for _, u := range l.unfinished {
		if !u.At.Before(since) {
			recent = append(recent, u)
		}
	}
	return recent
}

// Close writes what is queued and closes the log. Events that come later fail.
func (l *Log) Close() error {
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.mu.Unlock()
	if closed {
		return nil
	}
	close(l.queue)
	<-l.ended
	l.end.news.Close()
	return l.writer.close()
}

func (l *Log) line(e bailiff.Event) ([]byte, error) {
	line, err := marshal(e)
	if err == nil && l.Scrub != nil {
		line, err = scrubbed(line, l.Scrub)
	}
	if err != nil {
		err = fmt.Errorf("recording an event: %w", err)
		l.tell(1, err)
	}
	return line, err
}

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
		err := fmt.Errorf("recording an event: %w", ctx.Err())
		l.tell(1, err)
		return err
	}
}

// tell tells the observer of n events.
func (l *Log) tell(n int64, err error) {
	if l.Observer == nil {
		return
	}
	for range n {
		l.Observer.Audited(err)
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
				l.commit()
				return
			}
			if l.write(l.batch(first)) {
				noted.Reset(noteDelay)
			}
		case <-noted.C:
			l.commit()
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
	first := l.writer.uncommitted() == 0
	err := l.writer.append(batch)
	if err != nil {
		l.report(int64(len(batch)), err)
	} else if waited(batch) {
		err = l.commit()
		first = false
	}
	if err == nil {
		l.end.add(batch)
	}
	for _, e := range batch {
		if e.done != nil {
			e.done <- err
		}
	}
	return err == nil && first
}

func waited(batch []entry) bool {
	for _, e := range batch {
		if e.done != nil {
			return true
		}
	}
	return false
}

func (l *Log) commit() error {
	n := l.writer.uncommitted()
	if n == 0 {
		return nil
	}
	err := l.writer.commit()
	l.report(n, err)
	return err
}

func (l *Log) report(n int64, err error) {
	l.tell(n, err)
	if err == nil {
		l.failure.Store(nil)
		return
	}
	if l.failure.Swap(&err) == nil {
		l.Log.Error("the decision log cannot be written; nothing runs until it can", "error", err)
	}
}
