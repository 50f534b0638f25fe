package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/outage"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// Bounds say when a new segment is begun, and how long those before it stay.
type Bounds struct {
	// SegmentBytes is the size that no segment grows beyond; 64 MiB if zero.
	SegmentBytes int64
	// SegmentAge is the span of time of one segment, counted from midnight (UTC); a
	// day if zero.
	SegmentAge time.Duration
	// KeepFor is how old the last line of a segment may become, and KeepBytes how
	// large all segments together; zero is no bound.
	KeepFor   time.Duration
	KeepBytes int64
}

const (
	usualBytes = 64 << 20
	usualAge   = 24 * time.Hour
)

func (b Bounds) orUsual() *Bounds {
	b.SegmentBytes, b.SegmentAge = cmp.Or(b.SegmentBytes, usualBytes), cmp.Or(b.SegmentAge, usualAge)
	return &b
}

// kept says what there is of the log, and what became of the rest.
type kept struct {
	segments int
	bytes    int64
	// held counts the segments past the bounds that could not be removed, retired
	// those that were.
	held, retired int
}

// keepEvery is how often segments are looked at although none is begun.
const keepEvery = time.Hour

// keeper removes the segments that the bounds do not keep. Its goroutine reads and
// removes segments that are not written any more; what concerns the head is done by
// the writer's.
type keeper struct {
	log    *Log
	from   beginning
	look   chan struct{}
	cancel context.CancelFunc
	ended  chan struct{}
	outage outage.Outage
	held   atomic.Int64 // segments that could not be removed when it was last looked
}

func newKeeper(l *Log) *keeper {
	return &keeper{log: l, from: l.writer.from, look: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (k *keeper) start() {
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	go k.run(ctx)
}

func (k *keeper) stop() {
	k.cancel()
	<-k.ended
}

// hurry has the segments looked at soon.
func (k *keeper) hurry() {
	select {
	case k.look <- struct{}{}:
	default:
	}
}

func (k *keeper) warnings() []string {
	switch err, held := k.outage.Err(), k.held.Load(); {
	case err != nil:
		return []string{"old files of the decision log are not removed: " + err.Error()}
	case held > 0:
		return []string{fmt.Sprintf("%d old files of the decision log are not removed, since what exports it needs them still", held)}
	}
	return nil
}

func (k *keeper) run(ctx context.Context) {
	defer close(k.ended)
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		k.keep(ctx)
		select {
		case <-ctx.Done():
			return
		case <-k.look:
		case <-tick.C:
			if err := k.log.aside(k.log.writer.expire); err != nil {
				k.log.config.Log.Error("closing a file of the decision log whose time is over", "error", err)
			}
		}
	}
}

// keep looks at the segments once, and tells how that ended.
func (k *keeper) keep(ctx context.Context) {
	now, err := k.enforce(ctx)
	if ctx.Err() != nil {
		return
	}
	k.held.Store(int64(now.held))
	if k.outage.Set(err) {
		k.log.config.Log.Error("old files of the decision log are not removed", "error", err)
	}
	if k.log.config.Observer != nil && (err == nil || now.segments > 0) {
		k.log.config.Observer.Kept(now.bytes, now.held, now.retired)
	}
}

// enforce removes what the bounds do not keep.
func (k *keeper) enforce(ctx context.Context) (kept, error) {
	swept, err := k.sweep()
	if err != nil {
		return kept{}, err
	}
	all, err := k.survey()
	if err != nil || len(all) == 0 {
		return kept{retired: swept}, err
	}
	due := k.log.bounds.Load().due(all, time.Now())
	free := k.free(all[:due])
	err = k.retire(ctx, all[:free])
	if err != nil {
		free = 0
	}
	now := kept{segments: len(all) - free, held: due - free, retired: swept + free}
	for _, s := range all[free:] {
		now.bytes += s.bytes
	}
	return now, errors.Join(err, k.tell(ctx))
}

// segment is a file of the log; last is when its last event happened.
type segment struct {
	name  string
	bytes int64
	last  time.Time
}

func (k *keeper) survey() ([]segment, error) {
	names, _, err := segments(k.log.config.StateDir)
	all := make([]segment, 0, len(names))
	for _, name := range names {
		info, fault := os.Stat(k.path(name))
		if fault != nil {
			return nil, errors.Join(err, fault)
		}
		s := segment{name: name, bytes: info.Size()}
		if k.log.bounds.Load().KeepFor > 0 {
			if s.last, fault = lastTime(k.path(name), s.bytes); fault != nil {
				return nil, fmt.Errorf("reading the last line of %s: %w", k.path(name), fault)
			}
		}
		all = append(all, s)
	}
	return all, err
}

// lastTime is when the last event of a segment happened; zero if it is empty.
func lastTime(path string, size int64) (time.Time, error) {
	offset, found, err := lastLines(path, 1)
	if err != nil || size == 0 {
		return time.Time{}, err
	}
	if found == 0 {
		return time.Time{}, fmt.Errorf("%w: it holds no whole line", ErrTampered)
	}
	return timeAt(path, offset)
}

// due is how many of the oldest segments go. The last one stays, as it is written.
func (b Bounds) due(all []segment, now time.Time) int {
	closed := all[:len(all)-1]
	total := b.SegmentBytes // which the last one may come to
	for _, s := range closed {
		total += s.bytes
	}
	for n, s := range closed {
		old := b.KeepFor > 0 && !s.last.IsZero() && now.Sub(s.last) > b.KeepFor
		if !old && (b.KeepBytes == 0 || total <= b.KeepBytes) {
			return n
		}
		total -= s.bytes
	}
	return len(closed)
}

// free is how many of those that are due are not needed.
func (k *keeper) free(due []segment) int {
	needed := ""
	if k.log.config.Needed != nil {
		needed = k.log.config.Needed()
	}
	for n, s := range due {
		if needed != "" && s.name >= needed {
			return n
		}
	}
	return len(due)
}

// retire removes segments, after it has verified them and the head says so.
func (k *keeper) retire(ctx context.Context, due []segment) error {
	if len(due) == 0 {
		return nil
	}
	from, err := k.follow(ctx, due)
	if err != nil {
		return err
	}
	if err := k.begin(from); err != nil {
		return err
	}
	_, err = k.sweep()
	return err
}

// follow verifies the segments behind the log's beginning, and returns the
// beginning behind them.
func (k *keeper) follow(ctx context.Context, due []segment) (beginning, error) {
	chain := newChain(k.log.writer.head.key, k.from.last())
	count := k.from.Count
	for _, s := range due {
		line := 0
		rest, err := lines(k.path(s.name), 0, func(text []byte, _ int64) error {
			line++
			return errors.Join(ctx.Err(), chain.follow(text))
		})
		if err == nil && rest > 0 {
			line, err = line+1, errors.New("the line is cut short")
		}
		if err != nil {
			return beginning{}, fmt.Errorf("%w: %s:%d: %w", ErrTampered, k.path(s.name), line, err)
		}
		count += int64(line)
	}
	return beginning{Count: count, Last: chain.last, Segment: due[len(due)-1].name}, nil
}

func (k *keeper) begin(from beginning) error {
	err := k.log.aside(func() error { return k.log.writer.beginAt(from) })
	if err == nil {
		k.from = from
	}
	return err
}

// sweep removes the segments before the log's beginning, of an earlier run too, and
// says how many.
func (k *keeper) sweep() (removed int, err error) {
	names, _, err := segments(k.log.config.StateDir)
	for _, name := range names {
		if !k.from.isRetired(name) {
			break
		}
		if err := os.Remove(k.path(name)); err != nil {
			return removed, err
		}
		removed++
	}
	if removed > 0 {
		err = errors.Join(err, records.Sync(decisionsDir(k.log.config.StateDir)))
	}
	return removed, err
}

// tell has an event in the log tell where it begins, unless one does. It is written
// after the removal, which may be what makes room for it.
func (k *keeper) tell(ctx context.Context) error {
	if k.from.Count == 0 || k.from.Told {
		return nil
	}
	told := k.from
	told.Told = true
	message := fmt.Sprintf("retention removed all files of the decision log up to %s: it goes on after line %d, whose hash is %s",
		told.Segment, told.Count, told.Last)
	k.log.config.Log.Info(message)
	err := k.log.Record(ctx, api.Event{DecisionID: NewID(), Timestamp: time.Now().UTC(),
		Custom: api.Custom{Event: api.RetentionEvent, Message: message}})
	if err != nil {
		return fmt.Errorf("recording what was removed: %w", err)
	}
	return k.begin(told)
}

func (k *keeper) path(segment string) string {
	return filepath.Join(decisionsDir(k.log.config.StateDir), segment)
}
