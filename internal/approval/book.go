// Package approval is the book: the durable memory of what people were asked to
// approve, what they answered, what that lets run, and what an operator froze.
//
// # The rules
//
// A claim becomes an approval by [Book.Ask]; the same claim asked again joins the
// pending one. It ends approved, denied, expired or cancelled, and an approved one
// may become void. One no denies; the yes of as many people as the plan's quorum
// approves, and leaves a grant of the narrowest scope that was voted for.
//
// A grant of scope once covers the one claim whose digest was approved, one time.
// The others cover exactly the pairs of rule, match and context that were approved,
// by the same tool on the same backend with no more variables, for the same caller,
// peer, platform and user: in the same session for a while, or always until it is
// revoked; and only while the policies still offer that scope. A claim is covered
// when live grants together cover every pair of it. No grant holds when its claim
// would go to people by another route by now, need more of them, or proof that they did not give. What is frozen
// is covered by nothing.
//
// # How it is made
//
// The rules decide steps on a state (package state). A store keeps them: a file of this
// sidecar alone (package file), or a PostgreSQL that several share (package shared). The book
// asks the router, has its store take the step, and shows what is durable.
//
// # Promised
//
//   - Every step is one transaction, on disk before anyone sees it or is told.
//     Steps that wait together share a transaction.
//   - With a step its event is written, into the outbox; it leaves the outbox once
//     the decision log has it. So the log has every step, one perhaps twice: the
//     second is the same to the nanosecond of its timestamp, which no other has.
//   - A store that fails grants nothing, and everything is frozen, until the file
//     was written and read anew; then what it holds is the truth.
//   - [Open] refuses a store that is not exactly as it was left.
//   - What is stored and shown holds no known secret. Digests and pairs are of the
//     original, as hashes. Ids of sessions and users, platforms and callers stay as
//     they are.
//
// Not here: who may answer and by which way (the [Router]), what is asked about
// (the policies), what runs (enforcer).
package approval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/file"
	"github.com/bailiff-dev/bailiff/internal/approval/shared"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/config/required"
	"github.com/bailiff-dev/bailiff/internal/record/feed"
)

// Recorder is the decision log.
type Recorder interface {
	// Record returns nil once the event is on disk.
	Record(ctx context.Context, e api.Event) error
}

// Observer counts. Every approval is opened once and resolved once; one that was
// approved and became void is resolved a second time, as void.
type Observer interface {
	state.Observer
	// ApprovalRefused is told of a question that never became an approval: "refused",
	// since too much was pending already, or "unreachable".
	ApprovalRefused(platform, resolution string)
	GrantsActive(n int)
	// PatternApproved is told of a yes to a pattern, PatternUsed of a request that ran by one.
	PatternApproved(platform string)
	PatternUsed(platform string)
}

// Caps are how many approvals may be pending; zero means 1,000, 20 and 5.
type Caps = state.Caps

// Config is what a Book needs; Path or Shared, Router and Recorder are required.
type Config struct {
	// Path is the store's file; it is made if there never was one.
	Path string
	// Shared is the store where several sidecars have one; then there is no file.
	Shared   *shared.Config
	Router   Router
	Recorder Recorder
	Observer Observer
	// Reachable is nil if a new approval of that plan can be put to an approver now; nil
	// itself means that each can.
	Reachable func(api.Plan) error
	Caps      Caps
	// Scrub returns a text without known secrets. It is called concurrently.
	Scrub func([]byte) []byte
	Log   *slog.Logger

	// reached, in tests, is called between any two things that a crash may part.
	reached func(point string)
}

// Book is an open book. It may be used concurrently.
type Book struct {
	config  Config
	storage storage
	closing chan struct{} // closed by Close
	closed  sync.Once

	outbox  *state.Outbox
	changes feed.Feed[api.Change]
	// delivered is closed when the outbox is left alone, which stop brings about.
	delivered chan struct{}
	stop      context.CancelFunc

	// replans is how often the routers' word became old; replanning is held while
	// that of what is pending is brought up to date.
	replans    atomic.Uint64
	replanning sync.Mutex
	// complained is when a refused question was last logged, in nanoseconds since 1970.
	complained atomic.Int64

	mu      sync.RWMutex
	seen    *state.State // what is durable
	waiting map[string]chan struct{}
}

// Open opens the book, and ends what expired while it was closed.
func Open(c Config) (*Book, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	b := &Book{
		config: c, closing: make(chan struct{}), delivered: make(chan struct{}), waiting: map[string]chan struct{}{},
		seen: state.New(), outbox: state.NewOutbox(), changes: feed.Feed[api.Change]{Lost: api.Change{Lost: true}},
	}
	if err := b.openStorage(); err != nil {
		return nil, err
	}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	go b.deliver(ctx)
	if err := b.storage.Start(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Book) openStorage() (err error) {
	h := state.Host{View: shown{b}, Outbox: b.outbox, Closing: b.closing, Delivered: b.delivered, Scrub: b.scrub, Log: b.config.Log,
		Reach: b.reach}
	if b.config.Shared != nil {
		b.storage, err = shared.Open(h, b.config.Shared)
	} else {
		b.storage, err = file.Open(h, b.config.Path)
	}
	return err
}

func (c *Config) complete() error {
	absent := map[string]bool{"Path": c.Path == "" && c.Shared == nil, "Router": c.Router == nil, "Recorder": c.Recorder == nil}
	if err := required.Fields("approval", absent); err != nil {
		return err
	}
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	if c.Reachable == nil {
		c.Reachable = func(api.Plan) error { return nil }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	defaults := []struct {
		cap *int
		n   int
	}{{&c.Caps.Caller, 1000}, {&c.Caps.Session, 20}, {&c.Caps.User, 5}}
	for _, d := range defaults {
		if *d.cap == 0 {
			*d.cap = d.n
		}
	}
	return nil
}

type unobserved struct{}

func (unobserved) ApprovalOpened(string)                                          {}
func (unobserved) ApprovalResolved(string, string, string, time.Duration, string) {}
func (unobserved) ApprovalEndedElsewhere(string)                                  {}
func (unobserved) ApprovalRefused(_, _ string)                                    {}
func (unobserved) GrantsActive(int)                                               {}
func (unobserved) PatternApproved(string)                                         {}
func (unobserved) PatternUsed(string)                                             {}

// Err is why the store failed; it is nil when it works. Until then nothing is
// granted, everything is frozen, and what the book shows may be old.
func (b *Book) Err() error { return b.storage.Err() }

// Standing is how this sidecar is seen by others that share its store: the epoch of its name, and
// how often it was silent for so long that they may have taken over what was its own.
func (b *Book) Standing() (epoch int64, silences uint64) { return b.storage.Standing() }

// Warnings say what deserves a second look, a sentence each.
func (b *Book) Warnings() []string { return b.storage.Warnings() }

// deliverAtMost is how long Close waits for the decision log.
const deliverAtMost = 3 * time.Second

// Close ends the book. What the decision log does not take in time it is told at
// the next start; close the log after the book.
func (b *Book) Close() (err error) {
	b.closed.Do(func() {
		defer time.AfterFunc(deliverAtMost, b.stop).Stop()
		close(b.closing)
		err = b.storage.Close()
		b.stop()
		b.changes.Close()
	})
	return err
}

func (b *Book) reach(point string) {
	if b.config.reached != nil {
		b.config.reached(point)
	}
}

// Await returns an approval when it is no longer pending, or as it is when ctx
// ends or the book is closed. One that is not known has expired, and so has one whose
// time is over though that is not written yet: no approver can answer it any more.
func (b *Book) Await(ctx context.Context, id string) bailiff.Approval {
	if done := b.done(id); done != nil {
		select {
		case <-done:
		case <-ctx.Done():
		case <-b.closing:
		}
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if i := b.seen.Item(id); i != nil {
		return i.Entry.ApprovalAt(b.storage.Now())
	}
	return bailiff.Approval{ID: id, State: bailiff.ApprovalExpired, Message: fmt.Sprintf("there is no approval %s any more", id)}
}

// done returns what is closed when an approval is no longer pending; nil if that
// is so already.
func (b *Book) done(id string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.seen.Item(id); i == nil || !i.Pending() {
		return nil
	}
	done, found := b.waiting[id]
	if !found {
		done = make(chan struct{})
		b.waiting[id] = done
	}
	return done
}

// wake ends the waiting for an approval; b.mu is held.
func (b *Book) wake(id string) {
	if done, found := b.waiting[id]; found {
		close(done)
		delete(b.waiting, id)
	}
}

// Frozen says whether a session is stopped, and why, as its users are told. While
// the store has failed, everything is stopped.
func (b *Book) Frozen(s bailiff.Session) (reason string, frozen bool) {
	if err := b.Err(); err != nil {
		return state.StoppedByStore(err), true
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	f, frozen := b.seen.Frozen(s)
	if !frozen {
		return "", false
	}
	return f.Sentence(), true
}

// IsFrozen says whether a session is stopped by a freeze, as far as this book has seen: not by a store that failed.
func (b *Book) IsFrozen(s bailiff.Session) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	_, frozen := b.seen.Frozen(s)
	return frozen
}

// List returns a page of entries in the order of their creation, shortened, and
// where the next page begins; empty if there is none.
func (b *Book) List(q api.Query) (entries []api.Entry, next string) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.seen.List(q)
}

// Get returns an approval whole. It is not found either when it cannot be read.
func (b *Book) Get(id string) (api.Entry, bool) {
	i := b.item(id)
	if i == nil || b.Err() != nil {
		return api.Entry{}, false
	}
	text, found, err := b.claim(i)
	if !found || err != nil {
		return api.Entry{}, false
	}
	e := text.Fill(i.Entry)
	e.Answered, e.Pattern = b.answered(i), b.suggested(i, text.Claim(i.Entry.DecisionID))
	return e, true
}

// answered counts what people said to the rules and matches of an approval in others that are
// kept.
func (b *Book) answered(asked *state.Item) []api.Answered {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.seen.AnswersTo(asked)
}

// claim reads an approval's claim.
func (b *Book) claim(i *state.Item) (text state.ClaimText, found bool, err error) {
	text, found, err = b.storage.Claim(i.Seq)
	if err != nil && !errors.Is(err, ErrStore) {
		err = fmt.Errorf("%w: %w", ErrStore, err)
	}
	return text, found, err
}

func (b *Book) item(id string) *state.Item {
	if i := b.known(id); i != nil {
		return i
	}
	b.storage.Refresh()
	return b.known(id)
}

func (b *Book) known(id string) *state.Item {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.seen.Item(id)
}

// Grants returns the live grants in the order of their creation.
func (b *Book) Grants() []api.Grant {
	now := b.storage.Now()
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.seen.LiveGrants(now)
}

// Freezes returns what is frozen in the order in which it was.
func (b *Book) Freezes() []api.Freeze {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.seen.FreezesInOrder()
}

// Watch returns a channel of changes from now on, and what ends it. A reader
// reads too slowly finds a change that says Lost in place of those it missed.
// The channel is closed by stop and by [Book.Close].
func (b *Book) Watch() (changes <-chan api.Change, stop func()) { return b.changes.Watch() }

func (b *Book) scrub(text string) string {
	if b.config.Scrub == nil {
		return text
	}
	return string(b.config.Scrub([]byte(text)))
}
