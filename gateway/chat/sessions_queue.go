package chat

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
)

var (
	tooLate = saying("Not run: bailiff is shutting down.")
	tooMany = saying(fmt.Sprintf("Not run: %d commands wait here already.", maxQueue))
	tooMuch = saying("Not run: bailiff has too much to do at the moment. Try again in a minute.")
)

// session is one that has something to do. What can change in it is guarded by the lock
// of the [Sessions].
type session struct {
	id      string
	queue   []job
	current *run
	// dropped counts the commands that were taken out of the queue at the end.
	dropped int
}

// job is what a session is to do: a command or, if it ends the session, that.
type job struct {
	said Said
	what task
	// at is where the answer goes, kind what that is.
	at   Place
	kind string
	// late says that others were before it, so that the answer has to say whose it is.
	late bool
	// ends is what was stopped by who began a new session.
	ends *stopped
}

// run is what a session does now.
type run struct {
	job
	since  time.Time
	cancel context.CancelCauseFunc
	// step is what is being done that takes long, waits the approval that it waits for.
	step  string
	waits *gateway.Approval
	// over says that it only has to be shown what came of it.
	over bool
}

// stopped is what somebody stopped, and the reason why it stopped.
type stopped struct {
	by      Person
	command string
	waiting int
}

func (s *stopped) Error() string { return "stopped by " + name(s.by) }

// answered is who answered a session last.
type answered struct {
	backend, sandbox string
	at               time.Time
}

// add puts a command into its session's queue, or says why there is no room.
func (s *Sessions) add(j job) (refusal Text) {
	if j.kind == "thread" {
		if err := s.config.Notes.join(j.at); err != nil {
			s.config.Log.Warn("a chat thread cannot be remembered; after a restart it needs a mention again", "platform", s.config.Platform, "chat", j.at.Chat, "error", err)
		}
	}
	return s.enqueue(s.idOf(j.kind, j.at, j.said.By), j)
}

// enqueue puts a job into a session's queue, which it opens if need be.
func (s *Sessions) enqueue(id string, j job) (refusal Text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[id]
	switch {
	case s.closed:
		return tooLate
	case o == nil && s.working >= maxWorking, s.waiting+len(j.what.text) > maxWaitingBytes:
		return tooMuch
	case o != nil && len(o.queue) >= maxQueue:
		return tooMany
	case o == nil:
		o = &session{id: id}
		s.open[id] = o
		s.working++
		s.work.Go(func() { s.attend(o) })
	default:
		j.late = true
	}
	s.waiting += len(j.what.text)
	o.queue = append(o.queue, j)
	return nil
}

// clear empties a session's queue.
func (s *Sessions) clear(o *session) (dropped int) {
	for _, j := range o.queue {
		s.waiting -= len(j.what.text)
		if j.ends == nil {
			dropped++
		}
	}
	o.queue = nil
	return dropped
}

// occupy does some work in one of the places of sessions, if one is free.
func (s *Sessions) occupy(work func()) (refusal Text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return tooLate
	case s.working >= maxWorking:
		return tooMuch
	}
	s.working++
	s.work.Go(func() {
		defer s.leave()
		defer s.survive(func() {})
		work()
	})
	return nil
}

func (s *Sessions) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.working--
}

// attend does what a session has to do, until that is nothing.
func (s *Sessions) attend(o *session) {
	for {
		ctx, r := s.next(o)
		if r == nil {
			return
		}
		s.do(ctx, o, r)
		r.cancel(nil)
	}
}

// next is what a session does next, in a context that ends if that is stopped. If there is
// nothing, the session is open no more.
func (s *Sessions) next(o *session) (context.Context, *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.current = nil
	if len(o.queue) == 0 {
		delete(s.open, o.id)
		s.working--
		return nil, nil
	}
	j := o.queue[0]
	o.queue = o.queue[1:]
	s.waiting -= len(j.what.text)
	ctx, cancel := context.WithCancelCause(s.life)
	o.current = &run{job: j, since: time.Now(), cancel: cancel}
	return ctx, o.current
}

// do does one thing. If that panics, it is the only one that is lost.
func (s *Sessions) do(ctx context.Context, o *session, r *run) {
	defer s.survive(func() { s.post(r, Message{Text: saying("The sidecar failed at this command; its log says how.")}) })
	if r.ends != nil {
		s.renew(ctx, o, r)
		return
	}
	s.run(ctx, o, r)
}

// survive ends a panic, and then does what is to be done after one.
func (s *Sessions) survive(then func()) {
	cause := recover()
	if cause == nil {
		return
	}
	s.config.Log.Error("a chat command panicked", "platform", s.config.Platform, "cause", cause, "stack", string(debug.Stack()))
	defer s.survive(func() {})
	then()
}

// stop stops what a session does, and what waits in it. It is nil if that is nothing.
func (s *Sessions) stop(id string, by Person) *stopped {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[id]
	if o == nil {
		return nil
	}
	what := &stopped{by: by, waiting: s.clear(o)}
	if r := o.current; r != nil && r.ends == nil && !r.over {
		what.command = r.what.text
		r.cancel(what)
	}
	return what
}

// post shows a message of a command's, as long as it takes.
func (s *Sessions) post(r *run, m Message) {
	ctx, cancel := s.speaking(patience)
	defer cancel()
	err := persist(ctx, nil, func(ctx context.Context) error {
		_, err := s.config.Surface.Post(ctx, r.at, m, mark("answer", r.at.Chat, r.said.Message))
		return err
	})
	s.unsaid(r.at.Chat, err)
}

// whyStopped is why a command that was stopped was; empty if it was not.
func (s *Sessions) whyStopped(ctx context.Context, o *session) string {
	var by *stopped
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &by):
		return bailiff.Sentence(by.Error())
	case errors.Is(cause, errClosing):
		s.mu.Lock()
		defer s.mu.Unlock()
		if o.dropped > 0 {
			return fmt.Sprintf("Stopped: %v, and does not run the %s here.", errClosing, amount(o.dropped, "command that waits", "commands that wait"))
		}
		return fmt.Sprintf("Stopped: %v.", errClosing)
	}
	return ""
}
