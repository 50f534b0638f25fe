package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/records"
)

// Book is what was asked of people, and takes their answers. Its errors are those of
// package approval.
type Book interface {
	List(q api.Query) (entries []api.Entry, next string)
	Get(id string) (api.Entry, bool)
	Answer(ctx context.Context, id string, who bailiff.Approver, v bailiff.Verdict) (api.Entry, error)
	Watch() (changes <-chan api.Change, stop func())
}

// DeskObserver counts what a desk does. Results are "ok", "again" (it failed and is tried
// again) and "refused"; those of taps "taken", "barred" (of who may not answer), "late"
// and "invalid".
type DeskObserver interface {
	LineObserver
	ChatPosted(service, result string)
	ChatTapped(service, result string)
}

// DeskConfig is what a desk needs; every field is required.
type DeskConfig struct {
	// Service is its name, which is the channel's in routes.
	Service string
	// At is where approvals are posted.
	At Place
	// Poster is the service.
	Poster Poster
	Book   Book
	// Identify says who has an account at the service.
	Identify func(service, id string) bailiff.Approver
	// Dir is a folder for what is posted.
	Dir string
	// Changed is called when the desk begins or ends to reach people; [Desks] set it.
	Changed  func()
	Observer DeskObserver
	Log      *slog.Logger
}

// Desk has the approvals of one service: it posts those that are to be answered there,
// takes the answers, and says under each what became of it.
//
// What is promised:
//   - What a desk has posted is on disk before and after it is, so that after a restart
//     or an outage what is pending stands there once, and what was answered meanwhile says so.
//   - A button's token is random, works once, and means one answer to one approval of one
//     digest at one message. After each vote the message has others. Whatever else comes
//     changes nothing.
//   - Of who taps nothing counts but the service's id; whether they may answer, and whether
//     it is too late, the book says.
type Desk struct {
	config DeskConfig
	shelf  *records.Shelf[post]
	shifts []*agenda

	mu     sync.Mutex
	posts  map[string]*post  // by approval
	tokens map[string]string // approvals by the tokens of their buttons
	spent  map[string]string // and by those that they had last
	used   map[string]bool   // tokens by which an answer was given, or is being
	shown  map[Ref]string    // approvals by their messages

	reach
}

const (
	// deskWorkers post at once, each approval always the same.
	deskWorkers = 4
	// reviewEvery is how often a desk looks whether all stands as it should.
	reviewEvery = time.Minute
	// longBusy is how long a service may ask to wait and still count as reaching people.
	longBusy = time.Minute
	// keepPosted is how long an answered post is known, for those who tap it late, and
	// keepUnanswered any: longer than the book knows its approval.
	keepPosted     = 24 * time.Hour
	keepUnanswered = 10 * 24 * time.Hour
)

// NewDesk reads what is posted.
func NewDesk(c DeskConfig) (*Desk, error) {
	shelf, err := records.Open(records.Config[post]{Dir: c.Dir, Log: c.Log})
	if err != nil {
		return nil, fmt.Errorf("opening what is posted at %s: %w", c.Service, err)
	}
	d := &Desk{config: c, shelf: shelf, posts: map[string]*post{}, tokens: map[string]string{}, spent: map[string]string{}, used: map[string]bool{}, shown: map[Ref]string{}}
	d.reach = reach{service: c.Service, observer: c.Observer, log: c.Log, changed: func() { d.config.Changed() }}
	for range deskWorkers {
		d.shifts = append(d.shifts, newAgenda())
	}
	all, err := shelf.All()
	if err != nil {
		return nil, fmt.Errorf("reading what is posted at %s: %w", c.Service, err)
	}
	for _, p := range all {
		d.know(&p)
	}
	return d, nil
}

// Chat is the id of the chat where approvals are posted.
func (d *Desk) Chat() string { return d.config.At.Chat }

// Run posts until ctx ends.
func (d *Desk) Run(ctx context.Context) {
	changes, stop := d.config.Book.Watch()
	defer stop()
	var working sync.WaitGroup
	defer working.Wait()
	for _, shift := range d.shifts {
		working.Go(func() { shift.work(ctx, d.settle) })
	}
	tick := time.NewTicker(reviewEvery)
	defer tick.Stop()
	d.review()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			d.review()
		case change, open := <-changes:
			if !open {
				return
			}
			d.hear(change)
		}
	}
}

func (d *Desk) hear(change api.Change) {
	switch {
	case change.Lost:
		d.review()
	case change.Entry != nil && (d.isAsked(change.Entry) || d.find(change.Entry.ID) != nil):
		d.plan(change.Entry.ID)
	}
}

// isAsked says whether an approval is to be answered here.
func (d *Desk) isAsked(e *api.Entry) bool {
	return e.State == bailiff.ApprovalPending && slices.Contains(e.Plan.Channels, d.config.Service)
}

// review plans to look at everything that is pending or posted, and forgets what was
// answered long ago.
func (d *Desk) review() {
	for q := (api.Query{State: bailiff.ApprovalPending}); ; {
		entries, next := d.config.Book.List(q)
		for i := range entries {
			if d.isAsked(&entries[i]) {
				d.plan(entries[i].ID)
			}
		}
		if next == "" {
			break
		}
		q.After = next
	}
	for _, p := range d.unfinished() {
		d.plan(p)
	}
}

// unfinished are the approvals whose posts may have to be edited.
func (d *Desk) unfinished() (ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, p := range d.posts {
		switch age := time.Since(p.At); {
		case age > keepUnanswered, p.Done && age > keepPosted:
			d.forget(p)
		case !p.Done:
			ids = append(ids, id)
		}
	}
	return ids
}

func (d *Desk) plan(id string) {
	n := 0
	for _, c := range []byte(id) {
		n = n*31 + int(c)
	}
	d.shifts[uint(n)%uint(len(d.shifts))].add(id) //nolint:gosec // whatever it is
}

// settle has an approval's message be as the approval is.
func (d *Desk) settle(ctx context.Context, id string) {
	defer func() {
		if cause := recover(); cause != nil {
			d.config.Log.Error("posting an approval panicked", "service", d.config.Service, "approval", id, "cause", cause, "stack", string(debug.Stack()))
		}
	}()
	again := func(err error) {
		if busy := new(Busy); !errors.As(err, &busy) || busy.After > longBusy {
			d.fails(&d.posting, err)
		}
		d.config.Observer.ChatPosted(d.config.Service, "again")
		d.config.Log.Debug("posting an approval failed and is tried again", "service", d.config.Service, "approval", id, "error", err)
	}
	err := persist(ctx, again, func(ctx context.Context) error { return d.show(ctx, id) })
	if err == nil || ctx.Err() != nil {
		return
	}
	d.config.Observer.ChatPosted(d.config.Service, "refused")
	d.fails(&d.posting, err)
	d.config.Log.Error("an approval cannot be posted; it is tried again every minute", "service", d.config.Service, "approval", id, "error", err)
}

// show tries once to have an approval's message be as the approval is.
func (d *Desk) show(ctx context.Context, id string) error {
	e, found := d.config.Book.Get(id)
	p := d.find(id)
	pending := found && d.isAsked(&e)
	switch {
	case p == nil && !pending, p != nil && p.Done:
		return nil
	case !found:
		return nil // the store fails, or has forgotten it
	case !pending && p != nil && p.Ref == (Ref{}) && !p.Tried:
		return d.drop(p) // nobody was ever shown it
	case p == nil:
		p = newPost(e)
	}
	shown, err := d.put(ctx, p.of(e, d.config.Identify(e.Request.Session.Platform, e.Request.Session.UserID).Person, pending))
	if errors.Is(err, ErrGone) && pending { // somebody took the message away
		d.plan(id)
		return d.keep(p.anew())
	}
	if errors.Is(err, ErrGone) {
		shown, err = p, nil
	}
	if err != nil {
		return err
	}
	settled := *shown
	settled.Done = e.State != bailiff.ApprovalPending
	return d.keep(&settled)
}

// put posts or edits a message; what it was meant to show is on disk before.
func (d *Desk) put(ctx context.Context, p *post) (*post, error) {
	if p.Ref != (Ref{}) && p.Shown == digestOf(p.message) {
		return p, nil
	}
	uncertain := p.Tried
	p.Tried = p.Ref == (Ref{})
	if err := d.keep(p); err != nil {
		return p, err
	}
	ref, err := d.write(ctx, p, uncertain)
	if p.Tried != uncertain && hadNoEffect(err) {
		again := *p
		again.Tried = uncertain
		err = errors.Join(err, d.keep(&again))
	}
	if err != nil {
		return p, err
	}
	d.config.Observer.ChatPosted(d.config.Service, "ok")
	d.works(&d.posting)
	shown := *p
	shown.Ref, shown.Shown, shown.Tried = ref, digestOf(p.message), false
	return &shown, nil
}

// hadNoEffect says that the service did nothing.
func hadNoEffect(err error) bool {
	var busy *Busy
	return errors.As(err, &busy) || isFinal(err)
}

// write posts or edits a message. Where an earlier try may have shown something, that
// is edited.
func (d *Desk) write(ctx context.Context, p *post, uncertain bool) (Ref, error) {
	if p.Ref != (Ref{}) {
		return p.Ref, d.config.Poster.Edit(ctx, p.Ref, withoutFile(p.message))
	}
	ref, err := d.config.Poster.Post(ctx, d.config.At, p.message, p.Nonce)
	if err == nil && uncertain {
		err = d.config.Poster.Edit(ctx, ref, withoutFile(p.message))
	}
	return ref, err
}

func withoutFile(m Message) Message {
	m.File = nil
	return m
}

// find returns a copy of what is posted of an approval; nil if nothing is.
func (d *Desk) find(id string) *post {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.posts[id]; p != nil {
		found := *p
		return &found
	}
	return nil
}

// Shows says whether an approval's message may stand there.
func (d *Desk) Shows(id string) bool {
	p := d.find(id)
	return p != nil && p.Ref != (Ref{})
}

func (d *Desk) keep(p *post) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before := d.posts[p.ID]; before != nil {
		if p.Ref == (Ref{}) && p.Nonce == before.Nonce {
			p.Ref = before.Ref // somebody answered there meanwhile
		}
		d.unknow(before)
		d.spend(before, p)
	}
	kept := *p
	d.know(&kept)
	if err := d.shelf.Keep(kept); err != nil {
		return fmt.Errorf("remembering what is posted: %w", err)
	}
	return nil
}

// spend forgets which tokens of a post were used that are not its any more; d.mu is held.
func (d *Desk) spend(before, now *post) {
	for _, a := range before.Answers {
		if !slices.ContainsFunc(now.Answers, func(o option) bool { return o.Token == a.Token }) {
			delete(d.used, a.Token)
		}
	}
}

func (d *Desk) drop(p *post) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(p)
	return nil
}

// forget drops a post; d.mu is held.
func (d *Desk) forget(p *post) {
	d.unknow(p)
	for _, a := range p.Answers {
		delete(d.used, a.Token)
	}
	if err := d.shelf.Drop(p.ID); err != nil {
		d.config.Log.Debug("forgetting what was posted", "service", d.config.Service, "error", err)
	}
}

// know and unknow keep what finds posts; d.mu is held.
func (d *Desk) know(p *post) {
	d.posts[p.ID] = p
	if p.Ref != (Ref{}) {
		d.shown[p.Ref] = p.ID
	}
	for _, token := range p.Spent {
		d.spent[token] = p.ID
	}
	if p.Done {
		return
	}
	for _, a := range p.Answers {
		if !d.used[a.Token] {
			d.tokens[a.Token] = p.ID
		}
	}
}

func (d *Desk) unknow(p *post) {
	delete(d.posts, p.ID)
	delete(d.shown, p.Ref)
	for _, token := range p.Spent {
		delete(d.spent, token)
	}
	for _, a := range p.Answers {
		delete(d.tokens, a.Token)
	}
}

// Connected takes in that the service's connection stands, or why it does not.
func (d *Desk) Connected(err error) {
	d.reach.Connected(err)
	if err == nil {
		d.review() // what failed meanwhile
	}
}
