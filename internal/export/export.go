// Package export sends the decision log to a receiver, as OPA sends its own: POST of a
// JSON array of events, compressed by gzip (OPA's decision log service API).
//
// The log itself is the queue. A cursor beside the log's key says how far the receiver
// has it: it moves when the receiver said yes, and is what a restart begins from. So
// nothing is lost, whatever fails and for how long, and memory holds one batch; an
// event may come twice, which its decision_id tells. Only lines that are on disk are
// sent, as they are there, in their order.
//
// A receiver that is down, busy or refuses the credential is asked again, ever more
// rarely, and never sooner than it wants. Where it refuses what it got (400, 413, 422),
// the batch is halved until one event is left to blame. That one is passed over once
// the receiver has taken a later one, is counted and named in the sidecar's own log,
// and stays in the decision log. A receiver that takes none is waited for.
//
// Not here: what may be removed of the log, which package audit asks [Exporter.Needed].
package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/internal/audit"
	"github.com/bailiff-dev/bailiff/internal/httpapi"
)

// Observer is told how many events the receiver took, how many were passed over since
// it refuses them, and of each attempt that failed.
type Observer interface {
	Exported(events int)
	ExportRefused(events int)
	ExportFailed()
}

// Config is what an Exporter needs.
type Config struct {
	StateDir string
	// Receiver is at an address as in https://logs.example.com/logs.
	Receiver httpapi.Server
	Observer Observer
	Log      *slog.Logger
}

// Exporter sends one log to one receiver. Nil sends nothing, and needs nothing.
type Exporter struct {
	config Config
	api    *httpapi.Client
	most   int // bytes of a batch, of more than one event

	mu    sync.Mutex
	state state
}

// state is how far the export is.
type state struct {
	cursor audit.Position
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

// New reads how far the export is, without a call to the receiver.
func New(c Config) (*Exporter, error) {
	cursor, err := readCursor(cursorPath(c.StateDir))
	if err != nil {
		return nil, err
	}
	api, err := c.Receiver.Client(receiverName, reason)
	if err != nil {
		return nil, err
	}
	return &Exporter{config: c, api: api, most: batchBytes, state: state{cursor: cursor}}, nil
}

// Needed names the oldest segment that is still to be sent, for [audit.Config]. As long
// as nothing was sent that is the first of all.
func (e *Exporter) Needed() string {
	switch segment := e.now().cursor.Segment; {
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
	if err := s.trouble(); err != nil {
		all = append(all, "the decision log is not exported, and waits in its files: "+err.Error())
	}
	if s.refused > 0 {
		all = append(all,
			fmt.Sprintf("%d events of the decision log were refused by what it is exported to, since the start: they are in the local "+
				"log only", s.refused))
	}
	return all
}

// trouble is what the last try met, or that it meets nothing.
func (s state) trouble() error {
	if !s.asked.IsZero() && time.Since(s.asked) > promptly {
		return fmt.Errorf("%s has not answered for %s", receiverName, time.Since(s.asked).Truncate(time.Second))
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
	// receiverName is what errors call the receiver.
	receiverName = "the receiver of the decision log"
)

// Run sends what there is and what comes, until ctx ends. What is not sent then is
// sent by the next run.
func (e *Exporter) Run(ctx context.Context, written func() audit.Position) {
	if e == nil {
		return
	}
	pause := firstPause
	for {
		wait := lookEvery
		if err := e.send(ctx, written()); err == nil {
			pause = firstPause
			e.set(func(s *state) { s.oldest, s.met, s.told = time.Time{}, nil, false })
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

// failed takes in why a round ended early.
func (e *Exporter) failed(err error) {
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

// blames says whether the receiver refuses what it got, rather than to answer at all.
func blames(err error) bool {
	switch httpapi.Status(err) {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

func cursorPath(stateDir string) string { return filepath.Join(stateDir, "audit", "exported.json") }
