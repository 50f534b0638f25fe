// Package export sends the decision log to a receiver: a service that takes OPA's decision
// logs, or one of syslog.
//
// The log itself is the queue. A cursor beside the log's key says how far the receiver
// has it: it moves when the receiver is known to have what was sent, and is what a restart
// begins from. So nothing is lost, whatever fails and for how long, and memory holds one
// batch; an event may come twice, which its hash tells. Only lines that are on disk are
// sent, in their order.
//
// A receiver that is down, busy or refuses the credential is asked again, ever more
// rarely, and never sooner than it wants. Where it refuses what it got, the batch is halved
// until one event is left to blame. That one is passed over once the receiver has taken a
// later one, is counted and named in the sidecar's own log, and stays in the decision log.
// A receiver that takes none is waited for. Some protocols do not say what has come: what
// was sent within the span that the receiver names is sent again after a break.
//
// Not here: what may be removed of the log, which package audit asks [Exporter.OldestNeeded];
// the messages of syslog, which package syslog makes.
package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// Observer is told how many events the receiver took, how many were passed over since
// it refuses them, and of each attempt that failed.
type Observer interface {
	Exported(events int)
	ExportRefused(events int)
	ExportFailed()
}

// Receiver is where the events go.
type Receiver interface {
	// String is what errors call it.
	String() string
	// Send has it take lines of the log, in their order. It calls began before each try, and
	// failed after one that it makes again. After an error it is open which of them it has.
	Send(ctx context.Context, lines [][]byte, began func(), failed func(error)) error
	// Blames says whether it refuses what it got, rather than to answer at all.
	Blames(error) bool
	// Settles is how long after Send what it took may still be lost with the connection.
	Settles() time.Duration
	// Close gives back what Send keeps.
	Close()
}

// Config is what an Exporter needs.
type Config struct {
	StateDir string
	// Cursor names the file below StateDir/audit that says how far the receiver has the log.
	Cursor   string
	Receiver Receiver
	Observer Observer
	Log      *slog.Logger
}

// Exporter sends one log to one receiver. Nil sends nothing, and needs nothing.
type Exporter struct {
	config Config
	most   int // bytes of a batch, of more than one event

	mu    sync.Mutex
	state state
}

// state is how far the export is.
type state struct {
	// cursor is behind what was sent, settled behind what the receiver is known to have.
	cursor, settled audit.Position
	sent            []sent
	// oldest is when the oldest event happened that the receiver has not; zero if it
	// has all.
	oldest  time.Time
	refused int
	// met is how the last try failed, nil if it did not; told says that the log has it
	// that rounds fail; asked is since when an answer is waited for, zero if none is.
	met   error
	told  bool
	asked time.Time
}

// sent is what may still be lost with the connection.
type sent struct {
	end audit.Position
	at  time.Time
}

// New reads how far the export is, without a call to the receiver.
func New(c Config) (*Exporter, error) {
	cursor, err := readCursor(c.path())
	if err != nil {
		return nil, err
	}
	return &Exporter{config: c, most: batchBytes, state: state{cursor: cursor, settled: cursor}}, nil
}

// OldestNeeded names the oldest segment that is still to be sent, for [audit.Config]. As long
// as nothing was sent that is the first of all.
func (e *Exporter) OldestNeeded() string {
	switch segment := e.now().settled.Segment; {
	case e == nil:
		return ""
	case segment == "":
		return "0"
	default:
		return segment
	}
}

// Lag is how old the oldest event is that the receiver has not.
func (e *Exporter) Lag() time.Duration {
	if oldest := e.now().oldest; !oldest.IsZero() {
		return max(0, time.Since(oldest))
	}
	return 0
}

// Warnings says what is wrong with the export, a sentence each.
func (e *Exporter) Warnings() (all []string) {
	if e == nil {
		return nil
	}
	s := e.now()
	if err := s.trouble(e.config.Receiver.String()); err != nil {
		all = append(all, "the decision log is not exported, and waits in its files: "+err.Error())
	}
	if s.refused > 0 {
		all = append(all,
			fmt.Sprintf("%d events of the decision log were refused by %s, since the start: they are in the local log only", s.refused,
				e.config.Receiver))
	}
	return all
}

// trouble is what the last try met, or that it meets nothing.
func (s state) trouble(receiver string) error {
	if !s.asked.IsZero() && time.Since(s.asked) > promptly {
		return fmt.Errorf("%s has not answered for %s", receiver, time.Since(s.asked).Truncate(time.Second))
	}
	return s.met
}

func (e *Exporter) now() state {
	if e == nil {
		return state{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state
}

func (e *Exporter) set(change func(*state)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(&e.state)
}

const (
	// lookEvery is how often it is looked whether there is more to send.
	lookEvery = 500 * time.Millisecond
	// firstPause and longestPause are between a failure and the next attempt.
	firstPause, longestPause = time.Second, time.Minute
	// promptly is how long an answer may take before it is told that there is none.
	promptly = 5 * time.Second
)

// Run sends what there is and what comes, until ctx ends. What is not sent then is
// sent by the next run.
func (e *Exporter) Run(ctx context.Context, written func() audit.Position) {
	if e == nil {
		return
	}
	defer e.config.Receiver.Close()
	pause := firstPause
	for {
		wait, before := lookEvery, e.now().cursor
		if err := e.send(ctx, written()); err == nil {
			pause = firstPause
			e.set(func(s *state) { s.oldest, s.met, s.told = time.Time{}, nil, false })
			if after := e.now().cursor; after != before && e.behind(after, written()) {
				wait = 0
			}
		} else if ctx.Err() == nil {
			e.failed(err)
			wait = max(pause, httpapi.After(err))
			pause = min(2*pause, longestPause)
		}
		if httpapi.Wait(ctx, wait) != nil {
			return
		}
	}
}

// behind says whether a batch or more was written while those before it were sent.
func (e *Exporter) behind(cursor, written audit.Position) bool {
	return written.Segment != cursor.Segment || written.Offset-cursor.Offset >= int64(e.most)
}

// back has what may be lost sent again.
func (e *Exporter) back() {
	e.set(func(s *state) { s.cursor, s.sent = s.settled, nil })
}

// failed takes in why a round ended early.
func (e *Exporter) failed(err error) {
	e.back()
	before := e.now()
	if !errors.Is(err, before.met) {
		e.met(err)
	}
	if !before.told {
		e.set(func(s *state) { s.told = true })
		e.config.Log.Error("the decision log is not exported; it is kept and sent later", "error", err)
	}
}

// met takes in that a try failed.
func (e *Exporter) met(err error) {
	e.config.Observer.ExportFailed()
	e.set(func(s *state) { s.met, s.asked = err, time.Time{} })
}

func (c Config) path() string { return filepath.Join(c.StateDir, "audit", c.Cursor) }
