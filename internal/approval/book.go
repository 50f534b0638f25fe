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
// # In a database
//
// Where several sidecars share a store, it is a PostgreSQL. A step is a transaction that locks
// and loads the part of the state that the step says it needs, and fails if it looks at
// anything else. Every row is changed only as it was loaded; if another was faster, the step is
// decided anew. What a book shows follows the tables. Each sidecar says every second that it
// lives and which freezes it goes by: a freeze returns once each has said so, and one that was
// not heard for five seconds denies by itself. Deadlines go by the database's clock.
//
// # On disk
//
// Without one, the store is one bbolt file of mode 0600. Every record is eight bytes of
// checksum, over its place and its text, and a JSON document; a claim's text is a
// record of its own, written once and read only to show or answer it. The seal,
// rewritten with every transaction, holds the schema's version and the exclusive
// or of all checksums, so that a record that is missing or old shows as well.
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
//   - [Open] reads the whole file and refuses one that is not exactly as it was
//     left, or that another user could have written. A marker beside it says that
//     there was one: if it is gone, [Open] refuses too, so that no freeze is
//     forgotten in silence.
//   - What is stored and shown holds no known secret. Digests and pairs are of the
//     original, as hashes. Ids of sessions and users, platforms and callers stay as
//     they are.
//
// Not here: who may answer and by which way (the [Router]), what is asked about
// (the policies), what runs (enforcer).
package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/config/required"
	"github.com/bailiff-dev/bailiff/internal/record/feed"
	"github.com/bailiff-dev/bailiff/internal/record/outage"
)

// Recorder is the decision log.
type Recorder interface {
	// Record returns nil once the event is on disk.
	Record(ctx context.Context, e api.Event) error
}

// Observer counts. Every approval is opened once and resolved once; one that was
// approved and became void is resolved a second time, as void.
type Observer interface {
	ApprovalOpened(platform string)
	// ApprovalResolved is told the state that ended it, or "unanswerable", and the trace
	// that its request is exported in, if any.
	ApprovalResolved(platform, resolution, scope string, waited time.Duration, trace string)
	// ApprovalEndedElsewhere is told of one that another sidecar has resolved and counted.
	ApprovalEndedElsewhere(platform string)
	// ApprovalRefused is told of a question that never became an approval: "refused",
	// since too much was pending already, or "unreachable".
	ApprovalRefused(platform, resolution string)
	GrantsActive(n int)
	// PatternApproved is told of a yes to a pattern, PatternUsed of a request that ran by one.
	PatternApproved(platform string)
	PatternUsed(platform string)
}

// Caps are how many approvals may be pending for each caller, each session and
// each user; zero means 1,000, 20 and 5.
type Caps struct{ Caller, Session, User int }

// Config is what a Book needs; Path or Shared, Router and Recorder are required.
type Config struct {
	// Path is the store's file; it is made if there never was one.
	Path string
	// Shared is the store where several sidecars have one; then there is no file.
	Shared   *Shared
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

	outage  outage.Outage
	outbox  outbox
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
	seen    *state // what is durable
	waiting map[string]chan struct{}
}

// Open opens the book, and ends what expired while it was closed.
func Open(c Config) (*Book, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	b := &Book{
		config: c, closing: make(chan struct{}), delivered: make(chan struct{}), waiting: map[string]chan struct{}{},
		seen: newState(), outbox: outbox{more: make(chan struct{}, 1)}, changes: feed.Feed[api.Change]{Lost: api.Change{Lost: true}},
	}
	if err := b.openStorage(); err != nil {
		return nil, err
	}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	b.storage.start()
	go b.deliver(ctx)
	if err := b.storage.sweep(ctx); err != nil && b.config.Shared == nil { // others do it too, and this one again
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Book) openStorage() (err error) {
	if shared := b.config.Shared; shared != nil {
		b.storage, err = openShared(b, shared)
	} else {
		b.storage, err = openFile(b)
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

// reconcile shows what the disk holds, and tells of what differs from what was
// shown before.
func (b *Book) reconcile(s *state, ended func(*item)) {
	b.mu.Lock()
	before := b.seen
	b.seen = s
	for id := range b.waiting {
		if i := s.items[id]; i == nil || !i.pending() {
			b.wake(id)
		}
	}
	b.mu.Unlock()
	for _, i := range s.order {
		was := before.items[i.Entry.ID]
		if i.pending() && was == nil {
			b.config.Observer.ApprovalOpened(i.Entry.Request.Session.Platform)
		}
		if !i.pending() && was != nil && was.pending() {
			ended(i)
		}
	}
	b.config.Observer.GrantsActive(len(s.grants))
	b.changes.Tell(func() []api.Change { return []api.Change{{Lost: true}} })
}

// Err is why the store failed; it is nil when it works. Until then nothing is
// granted, everything is frozen, and what the book shows may be old.
func (b *Book) Err() error { return b.storage.err() }

// Standing is how this sidecar is seen by others that share its store: the epoch of its name, and
// how often it was silent for so long that they may have taken over what was its own.
func (b *Book) Standing() (epoch int64, silences uint64) {
	if s, isShared := b.storage.(*sharedStore); isShared {
		return s.epoch, s.silences.Load()
	}
	return 0, 0
}

// Warnings say what deserves a second look, a sentence each.
func (b *Book) Warnings() []string {
	if s, isShared := b.storage.(*sharedStore); isShared && s.deaf.Load() {
		return []string{"what other sidecars do is seen up to 200 ms later: PostgreSQL passes no notifications on"}
	}
	return nil
}

// deliverAtMost is how long Close waits for the decision log.
const deliverAtMost = 3 * time.Second

// Close ends the book. What the decision log does not take in time it is told at
// the next start; close the log after the book.
func (b *Book) Close() (err error) {
	b.closed.Do(func() {
		defer time.AfterFunc(deliverAtMost, b.stop).Stop()
		close(b.closing)
		err = b.storage.close()
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
	if i := b.seen.items[id]; i != nil {
		return i.Entry.approvalAt(b.storage.now())
	}
	return bailiff.Approval{ID: id, State: bailiff.ApprovalExpired, Message: fmt.Sprintf("there is no approval %s any more", id)}
}

// done returns what is closed when an approval is no longer pending; nil if that
// is so already.
func (b *Book) done(id string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.seen.items[id]; i == nil || !i.pending() {
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
		return stopped(freeze{Kind: api.FreezeAll, Reason: err.Error(), By: "bailiff"}.says(), storeWorks), true
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	f, frozen := b.seen.frozen(s)
	if !frozen {
		return "", false
	}
	return f.told(), true
}

// IsFrozen says whether a session is stopped by a freeze, as far as this book has seen: not by a store that failed.
func (b *Book) IsFrozen(s bailiff.Session) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	_, frozen := b.seen.frozen(s)
	return frozen
}

// List returns a page of entries in the order of their creation, shortened, and
// where the next page begins; empty if there is none.
func (b *Book) List(q api.Query) (entries []api.Entry, next string) {
	if q.Limit <= 0 {
		q.Limit = 100
	}
	after, _ := strconv.ParseUint(q.After, 10, 64)
	b.mu.RLock()
	defer b.mu.RUnlock()
	at, _ := b.seen.find(after + 1)
	for _, i := range b.seen.order[at:] {
		if !selects(q, &i.Entry) {
			continue
		}
		if len(entries) == q.Limit {
			return entries, next
		}
		entries, next = append(entries, i.Entry.shown()), strconv.FormatUint(i.Seq, 10)
	}
	return entries, ""
}

func selects(q api.Query, e *entry) bool {
	s := &e.Request.Session
	return (q.State == "" || q.State == e.State) && (q.Session == "" || q.Session == s.ID) &&
		(q.User == "" || isUser(q.User, s.Platform, s.UserID))
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
	e := text.fill(i.Entry)
	e.Answered, e.Pattern = b.answered(i), b.suggested(i, text.claim(i.Entry.DecisionID))
	return e, true
}

// answered counts what people said to the rules and matches of an approval in others that are
// kept.
func (b *Book) answered(asked *item) []api.Answered {
	counts := map[string]*api.Answered{}
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, i := range b.seen.order {
		if i.Seq == asked.Seq || len(i.Pairs) == 0 || !slices.Equal(i.Pairs, asked.Pairs) {
			continue
		}
		for _, v := range i.Entry.Votes {
			one := counts[nameOf(v)]
			if one == nil {
				one = &api.Answered{Person: nameOf(v)}
				counts[nameOf(v)] = one
			}
			if v.Approve {
				one.Yes++
			} else {
				one.No++
			}
		}
	}
	var all []api.Answered
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, *counts[name])
	}
	return all
}

// claim reads an approval's claim. If that shows that the file was damaged, the
// store has failed.
func (b *Book) claim(i *item) (text claimText, found bool, err error) {
	text, found, err = b.storage.claim(i.Seq)
	if err == nil {
		return text, found, nil
	}
	err = fmt.Errorf("%w: %w", ErrStore, err)
	if errors.Is(err, errDamaged) && b.outage.Set(err) {
		b.config.Log.Error(err.Error())
	}
	return text, found, err
}

func (b *Book) item(id string) *item {
	if i := b.known(id); i != nil {
		return i
	}
	b.storage.refresh()
	return b.known(id)
}

func (b *Book) known(id string) *item {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.seen.items[id]
}

// Grants returns the live grants in the order of their creation.
func (b *Book) Grants() []api.Grant {
	now := b.storage.now()
	b.mu.RLock()
	defer b.mu.RUnlock()
	grants := make([]api.Grant, 0, len(b.seen.grants))
	for _, h := range b.seen.grants {
		if h.live(now) {
			grants = append(grants, api.Grant(h.Grant))
		}
	}
	slices.SortFunc(grants, func(x, y api.Grant) int {
		return cmp.Or(x.Created.Compare(y.Created), strings.Compare(x.ID, y.ID))
	})
	return grants
}

// Freezes returns what is frozen in the order in which it was.
func (b *Book) Freezes() []api.Freeze {
	b.mu.RLock()
	defer b.mu.RUnlock()
	freezes := make([]api.Freeze, 0, len(b.seen.freezes))
	for _, f := range b.seen.freezes {
		freezes = append(freezes, api.Freeze(f))
	}
	slices.SortFunc(freezes, func(x, y api.Freeze) int {
		return cmp.Or(x.At.Compare(y.At), strings.Compare(x.Kind+x.ID, y.Kind+y.ID))
	})
	return freezes
}

// Watch returns a channel of changes from now on, and what ends it. A reader
// reads too slowly finds a change that says Lost in place of those it missed.
// The channel is closed by stop and by [Book.Close].
func (b *Book) Watch() (changes <-chan api.Change, stop func()) { return b.changes.Watch() }
