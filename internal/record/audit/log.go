// Package audit is the decision log: what was asked, what was decided, what
// became of it, one JSON line an event, in files that show when they were
// tampered with.
//
// # On disk
//
// The lines are in {state_dir}/decisions/NNNNNNNN-YYYY-MM-DD.jsonl, segments in
// the order of their names, with the day (UTC) on which each was begun: at the turn
// of a day, or of another span, and whenever the last is full. Each line ends with
//
//	,"prev_hash":"P","hash":"H"}}
//
// where P is the hash of the line before (64 zeros for the first of all) and H
// is the HMAC-SHA256, in lower-case hexadecimal, of the line's bytes from its
// beginning to P's last digit. As P is among these bytes, H covers everything
// before it. The key is in {state_dir}/audit/key, made at the first start.
// {state_dir}/audit/head holds how many lines there are, the last hash and where
// that line ends, under an HMAC too: two copies written in turns, so that one is
// always whole. The head also holds the count and the hash of the last line that
// retention removed, which is where the chain begins.
//
// # Promised
//
//   - [Log.Record] returns nil only when the line is on disk. Lines that wait
//     together share one write and one fsync.
//   - [Log.Note] keeps its place among the others, waits for no write unless the
//     queue is full, drops nothing, and is on disk soon after.
//   - What the policies mask and known secrets are taken away before a line is
//     hashed, and the line is not seen before. An event that cannot be masked is not
//     written.
//   - The head is written after the lines it counts are on disk, so after a crash
//     at any point it may lag the log but never leads it. [Open] verifies and
//     adopts what lies beyond the head, and cuts off a last line that was torn.
//     Anything else that does not fit is an error: a log that was tampered with is
//     never continued in silence.
//   - A failed write leaves no partial line, fails all callers that wait, and is tried
//     anew with the next event.
//   - [Verify] finds a line that was edited, removed, added, reordered, or cut off
//     the end, and names its place.
//   - Old segments are removed only by the [Bounds], the oldest first, once every line
//     of them has been verified, and none that [Config.Needed] still needs. The head
//     says so before and an event after, so that [Verify] tells what was retired from
//     what another process removed, wherever a crash falls.
//
// # Heads for others
//
// [SignHead] signs how far the log goes, with a key that lies elsewhere, and a log is held to such heads when it is verified:
// so one that the key's holder wrote anew shows. [VerifyFleet] holds the logs of sidecars that share a database to what each
// told the others of its own.
//
// A holder of the key can write a log that verifies; ship the lines elsewhere
// if the machine's owner is not to be trusted.
//
// Not here: what an event says (package bailiff), who may read it (gateway).
package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/bailiff-dev/bailiff/api"
)

// Observer is told of every event once it is on disk, with a nil error, or when
// it could not be written. Whenever a segment was begun, and every hour, it is told
// how large the log is, how many segments are past the bounds and could not be
// removed, and how many more were.
type Observer interface {
	Audited(err error)
	Kept(bytes int64, held, retired int)
}

// Config is what a Log needs; only StateDir is required.
type Config struct {
	// StateDir is where the folders decisions and audit are, or will be.
	StateDir string
	// Scrub returns a text without known secrets. It is called concurrently.
	Scrub func([]byte) []byte
	// Mask says what of an event is not to be kept; it may be missing.
	Mask     Masking
	Observer Observer
	Log      *slog.Logger
	Bounds   Bounds
	// Needed names the oldest segment that something else still needs, or is empty.
	Needed func() string
}

// Log is an open decision log. It may be used concurrently.
type Log struct {
	config     Config
	queue      chan entry
	writer     *writer
	unfinished []Unfinished
	end        recent
	health     health
	written    atomic.Pointer[position]
	name       string // of its chain
	bounds     *atomic.Pointer[Bounds]
	keeper     *keeper
	asides     chan func() // run between writes, on the writer's goroutine

	mu     sync.RWMutex // write-locked to close the queue, read-locked to send to it
	closed bool
	ended  chan struct{}
}

// entry is a line on its way to the writer. Either its caller waits at done, or lost
// is told why the line was not written.
type entry struct {
	line    []byte
	session string
	done    chan<- error
	lost    func(error)
}

const (
	// queueLength is how many lines may wait for the writer.
	queueLength = 1024
	// batchBytes is how much goes into one write.
	batchBytes = 4 << 20
	// noteDelay is how long a noted line may wait for its fsync.
	noteDelay = 100 * time.Millisecond
)

var errClosed = errors.New("the decision log is closed")

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
	bounds := &atomic.Pointer[Bounds]{}
	bounds.Store(c.Bounds.orUsual())
	w, torn, err := recoverWriter(c.StateDir, bounds)
	if err != nil {
		return nil, fmt.Errorf("opening the decision log: %w", err)
	}
	l := &Log{config: c, health: health{log: c.Log}, queue: make(chan entry, queueLength), writer: w, bounds: bounds,
		name: w.chain.name(), asides: make(chan func()), ended: make(chan struct{})}
	w.committed = l.tellCommit
	if l.unfinished, err = readUnfinished(c.StateDir, time.Now().Add(-unfinishedFor)); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the decision log: %w", err), w.close())
	}
	if err := l.end.load(c.StateDir); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the decision log: %w", err), w.close())
	}
	l.written.Store(new(w.synced))
	l.keeper = newKeeper(l)
	go l.run()
	l.noteTorn(torn)
	l.keeper.start()
	return l, nil
}

// Limit replaces the bounds.
func (l *Log) Limit(b Bounds) {
	l.bounds.Store(b.orUsual())
	l.keeper.hurry()
}

// Warnings says why old segments are still there, a sentence each.
func (l *Log) Warnings() []string { return l.keeper.warnings() }

// noteTorn leaves a line that says what Open cut off.
func (l *Log) noteTorn(bytes int64) {
	if bytes == 0 {
		return
	}
	message := fmt.Sprintf("a line of %d bytes that an earlier run had not finished was cut off the decision log", bytes)
	l.config.Log.Warn(message)
	l.Note(api.Event{DecisionID: NewID(), Timestamp: time.Now(), Custom: api.Custom{Event: api.ReloadEvent, Message: message}})
}

// Record writes an event and returns nil once it is on disk. If ctx ends first,
// the event may or may not be written.
func (l *Log) Record(ctx context.Context, e api.Event) error {
	line, err := l.line(ctx, e)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	if err := l.send(ctx, entry{line: line, session: e.Custom.Session, done: done}); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the decision log: %w", ctx.Err())
	}
}

// Note writes an event behind those before it and does not wait for the disk.
func (l *Log) Note(e api.Event) {
	lost := func(err error) {
		l.config.Log.Error("an event is missing from the decision log", "event", e.Custom.Event, "request_id", e.Custom.RequestID,
			"decision_id", e.DecisionID, "trace_id", e.TraceID, "error", err)
	}
	line, err := l.line(context.Background(), e)
	if err == nil {
		err = l.send(context.Background(), entry{line: line, session: e.Custom.Session, lost: lost})
	}
	if err != nil {
		lost(err)
	}
}

// Err is why the last event could not be worded or written; it is nil once one came to
// the disk that came after it.
func (l *Log) Err() error { return l.health.err() }

// UnfinishedRequests returns the requests that an earlier run let run, at since or
// later, and whose end it did not record.
func (l *Log) UnfinishedRequests(since time.Time) []Unfinished {
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
	l.keeper.stop()
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

// line words an event. What is masked is never more than what humans and programs
// told of a request, which only events with input or result hold.
func (l *Log) line(ctx context.Context, e api.Event) ([]byte, error) {
	told := e.Input != nil || e.Result != nil
	line, err := marshal(e)
	if err == nil && l.config.Mask != nil && told {
		if line, err = maskLine(ctx, line, l.config.Mask); err != nil {
			err = fmt.Errorf("masking the event by data.system.log.mask: %w", err)
		}
	}
	if err == nil && l.config.Scrub != nil {
		line, err = scrubLine(line, l.config.Scrub)
	}
	if err != nil {
		l.tell(1, err)
	}
	if told || err != nil {
		l.health.noteWording(ctx, err)
	}
	return line, err
}
