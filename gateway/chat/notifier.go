package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// Approvals are the approvals that people are asked for. It takes their answers; its errors
// are those of package api.
type Approvals interface {
	List(q api.Query) (entries []api.Entry, next string)
	Get(id string) (api.Entry, bool)
	Answer(ctx context.Context, id string, who bailiff.Approver, v bailiff.Verdict) (api.Entry, error)
	Opine(ctx context.Context, id, by, text string) error
	Watch() (changes <-chan api.Change, stop func())
}

// NotifierObserver counts posts and clicks. The results of a post are "ok", "again" (it
// failed and is tried again) and "refused"; those of a click are "taken", "listed" (a yes to
// several questions at once), "barred" (the
// person may not answer), "late" and "invalid".
type NotifierObserver interface {
	ConnectionObserver
	ChatPosted(service, result string)
	ChatClicked(service, result string)
}

// NotifierConfig is what a notifier needs; every field is required.
type NotifierConfig struct {
	// Service is the service's name, which is the channel's name in routes.
	Service string
	// At is where approvals are posted.
	At Place
	// Poster is the service.
	Poster    Poster
	Approvals Approvals
	// Identify returns the approver that an account at a service belongs to.
	Identify func(service, id string) bailiff.Approver
	// Dir is the folder of the posts' files.
	Dir string
	// Changed is called when the service begins or ends to reach people; [Notifiers] set it.
	Changed  func()
	Observer NotifierObserver
	Log      *slog.Logger
}

// Notifier posts the approvals that are to be answered at one service, takes the answers,
// and edits each message to say how the approval ended.
//
// What is promised:
//   - A post is on disk before and after it is made. After a restart or an outage each
//     pending approval is shown once, and those answered meanwhile say so.
//   - A button's token is random, works once, and means one answer to one approval of one
//     digest at one message. After each vote the message has new tokens. Any other token
//     changes nothing.
//   - A message may list other waiting questions of the same session that differ in their text
//     alone. The yes to all covers those that it lists and no later one, each by its own digest. The
//     message says of each when it waits no more.
//   - A person is known by the service's id alone. [Approvals] decide whether they may
//     answer and whether it is too late.
type Notifier struct {
	config NotifierConfig
	store  *records.Store[post]
	queues []*workQueue

	mu     sync.Mutex
	posts  map[string]*post  // by the approvals' ids
	tokens map[string]string // approvals' ids by the tokens of their buttons
	spent  map[string]string // approvals' ids by the tokens that they had before
	used   map[string]bool   // tokens whose answer was given, or is being given
	shown  map[Ref]string    // approvals' ids by their messages

	health
}

const (
	// notifierWorkers post at once; each approval belongs to one of them.
	notifierWorkers = 4
	// resyncEvery is how often all posts are compared with their approvals.
	resyncEvery = time.Minute
	// longBusy is how long a service may ask to wait and still count as reaching people.
	longBusy = time.Minute
	// keepPosted is how long an answered post is kept, so that a late click is answered.
	// keepUnanswered is how long any post is kept: longer than its approval is stored.
	keepPosted     = 24 * time.Hour
	keepUnanswered = 10 * 24 * time.Hour
)

// NewNotifier reads the posts of earlier runs.
func NewNotifier(c NotifierConfig) (*Notifier, error) {
	store, err := records.Open(records.Config[post]{Dir: c.Dir, Log: c.Log})
	if err != nil {
		return nil, fmt.Errorf("opening what is posted at %s: %w", c.Service, err)
	}
	n := &Notifier{config: c, store: store, posts: map[string]*post{}, tokens: map[string]string{}, spent: map[string]string{},
		used: map[string]bool{}, shown: map[Ref]string{}}
	n.health = health{service: c.Service, observer: c.Observer, log: c.Log, changed: func() { n.config.Changed() }}
	for range notifierWorkers {
		n.queues = append(n.queues, newWorkQueue())
	}
	all, err := store.All()
	if err != nil {
		return nil, fmt.Errorf("reading what is posted at %s: %w", c.Service, err)
	}
	for _, p := range all {
		n.indexLocked(&p)
	}
	return n, nil
}

// Chat is the id of the chat where approvals are posted.
func (n *Notifier) Chat() string { return n.config.At.Chat }

// Run posts until ctx ends.
func (n *Notifier) Run(ctx context.Context) {
	changes, stop := n.config.Approvals.Watch()
	defer stop()
	var working sync.WaitGroup
	defer working.Wait()
	for _, shift := range n.queues {
		working.Go(func() { shift.work(ctx, n.reconcile) })
	}
	tick := time.NewTicker(resyncEvery)
	defer tick.Stop()
	n.resync()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			n.resync()
		case change, open := <-changes:
			if !open {
				return
			}
			n.onChange(change)
		}
	}
}

func (n *Notifier) onChange(change api.Change) {
	switch {
	case change.Lost:
		n.resync()
	case change.Entry != nil && (n.isAsked(change.Entry) || n.find(change.Entry.ID) != nil):
		n.enqueue(change.Entry.ID)
		if change.Entry.State != bailiff.ApprovalPending {
			for _, id := range n.listing(change.Entry.ID) {
				n.enqueue(id)
			}
		}
	}
}

// isAsked says whether an approval is to be answered at this service.
func (n *Notifier) isAsked(e *api.Entry) bool {
	return e.State == bailiff.ApprovalPending && slices.Contains(e.Plan.Channels, n.config.Service)
}

// resync enqueues each approval that is pending or posted, and forgets posts that were
// answered long ago.
func (n *Notifier) resync() {
	for q := (api.Query{State: bailiff.ApprovalPending}); ; {
		entries, next := n.config.Approvals.List(q)
		for i := range entries {
			if n.isAsked(&entries[i]) {
				n.enqueue(entries[i].ID)
			}
		}
		if next == "" {
			break
		}
		q.After = next
	}
	for _, p := range n.openPosts() {
		n.enqueue(p)
	}
}

// openPosts are the approvals whose posts may have to be edited.
func (n *Notifier) openPosts() (ids []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, p := range n.posts {
		switch age := time.Since(p.At); {
		case age > keepUnanswered, p.Done && age > keepPosted:
			n.forgetLocked(p)
		case !p.Done:
			ids = append(ids, id)
		}
	}
	return ids
}

func (n *Notifier) enqueue(id string) {
	sum := 0
	for _, c := range []byte(id) {
		sum = sum*31 + int(c)
	}
	n.queues[uint(sum)%uint(len(n.queues))].add(id) //nolint:gosec // any number will do
}

// reconcile makes an approval's message show the approval's state, and tries until it does.
func (n *Notifier) reconcile(ctx context.Context, id string) {
	defer LogPanic(n.config.Log, "posting an approval panicked", "service", n.config.Service, "approval", id)
	again := func(err error) {
		if busy := new(Busy); !errors.As(err, &busy) || busy.After > longBusy {
			n.noteFailure(&n.posting, err)
		}
		n.config.Observer.ChatPosted(n.config.Service, "again")
		n.config.Log.Debug("posting an approval failed and is tried again", "service", n.config.Service, "approval", id, "error", err)
	}
	err := retry(ctx, again, func(ctx context.Context) error { return n.reconcileOnce(ctx, id) })
	if err == nil || ctx.Err() != nil {
		return
	}
	n.config.Observer.ChatPosted(n.config.Service, "refused")
	n.noteFailure(&n.posting, err)
	n.config.Log.Error("an approval cannot be posted; it is tried again every minute", "service", n.config.Service, "approval", id, "error",
		err)
}

// reconcileOnce tries once to make an approval's message show the approval's state.
func (n *Notifier) reconcileOnce(ctx context.Context, id string) error {
	e, found := n.config.Approvals.Get(id)
	p := n.find(id)
	pending := found && n.isAsked(&e)
	var others []alsoListed
	if pending {
		others = n.alsoWaiting(e)
	}
	switch {
	case p == nil && !pending, p != nil && p.Done:
		return nil
	case !found:
		return nil // the store fails, or the approval was deleted
	case !pending && p != nil && p.Ref == (Ref{}) && !p.Tried:
		return n.drop(p) // it was never shown
	case p == nil:
		p = newPost(e, others)
	}
	p.Listed = n.asTheyStand(p.Listed)
	person := n.config.Identify(e.Request.Session.Platform, e.Request.Session.UserID).Person
	shown, err := n.publish(ctx, p.render(e, person, pending, others))
	if errors.Is(err, ErrGone) && pending { // a person deleted the message
		n.enqueue(id)
		return n.save(p.repost())
	}
	if errors.Is(err, ErrGone) {
		shown, err = p, nil
	}
	if err != nil {
		return err
	}
	settled := *shown
	settled.Done = e.State != bailiff.ApprovalPending
	return n.save(&settled)
}

// publish posts or edits a message, whose content is on disk before.
func (n *Notifier) publish(ctx context.Context, p *post) (*post, error) {
	if p.Ref != (Ref{}) && p.Shown == digestOf(p.message) {
		return p, nil
	}
	uncertain := p.Tried
	p.Tried = p.Ref == (Ref{})
	if err := n.save(p); err != nil {
		return p, err
	}
	ref, err := n.postOrEdit(ctx, p, uncertain)
	if p.Tried != uncertain && hadNoEffect(err) {
		again := *p
		again.Tried = uncertain
		err = errors.Join(err, n.save(&again))
	}
	if err != nil {
		return p, err
	}
	n.config.Observer.ChatPosted(n.config.Service, "ok")
	n.noteSuccess(&n.posting)
	shown := *p
	shown.Ref, shown.Shown, shown.Tried = ref, digestOf(p.message), false
	return &shown, nil
}

// hadNoEffect says whether the service is known to have done nothing.
func hadNoEffect(err error) bool {
	var busy *Busy
	return errors.As(err, &busy) || isFinal(err)
}

// postOrEdit posts or edits a message. Where an earlier try may have posted one, that one
// is edited.
func (n *Notifier) postOrEdit(ctx context.Context, p *post, uncertain bool) (Ref, error) {
	if p.Ref != (Ref{}) {
		return p.Ref, n.config.Poster.Edit(ctx, p.Ref, withoutFile(p.message))
	}
	ref, err := n.config.Poster.Post(ctx, n.config.At, p.message, p.Nonce)
	if err == nil && uncertain {
		err = n.config.Poster.Edit(ctx, ref, withoutFile(p.message))
	}
	return ref, err
}

func withoutFile(m Message) Message {
	m.File = nil
	return m
}

// Connected takes the state of the service's connection: nil, or why there is none.
func (n *Notifier) Connected(err error) {
	n.health.Connected(err)
	if err == nil {
		n.resync() // posts that failed meanwhile
	}
}
