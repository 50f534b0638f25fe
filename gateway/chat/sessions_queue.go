package chat

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

var (
	tooLate = saying("Not run: bailiff is shutting down.")
	tooMany = saying(fmt.Sprintf("Not run: %d commands wait here already.", maxQueue))
	tooMuch = saying("Not run: bailiff has too much to do at the moment. Try again in a minute.")
)

// session is a session with something to do. The lock of [Sessions] guards its fields.
type session struct {
	id      string
	queue   []job
	current *run
	// dropped counts the commands that were taken out of the queue by Close.
	dropped int
}

// job is a task of a session: a command, or the end of the session.
type job struct {
	said Said
	what task
	// at is where the answer goes, kind the kind of that conversation.
	at   Place
	kind string
	// late says that other messages stand between the command and its answer, so that the
	// answer repeats the command.
	late bool
	// ends is set for the end of the session: what it stopped.
	ends *stopped
}

// run is the job that a session does now.
type run struct {
	job
	since  time.Time
	cancel context.CancelCauseFunc
	// step is a long step that is under way, waits the approval that it waits for.
	step  string
	waits *api.Approval
	// over says that the command has ended and only its answer has to be shown.
	over bool
}

// stopped is what a person stopped, and the cause with which it was cancelled.
type stopped struct {
	by      Person
	command string
	waiting int
}

func (s *stopped) Error() string { return "stopped by " + name(s.by) }

// answered is the backend that ran a session's last command.
type answered struct {
	backend, sandbox string
	at               time.Time
}

// add puts a command into its session's queue, or says why it cannot.
func (s *Sessions) add(j job) (refusal Text) {
	if j.kind == "thread" {
		if err := s.config.Store.join(j.at); err != nil {
			s.config.Log.Warn("a chat thread cannot be remembered; after a restart it needs a mention again", "platform", s.config.Platform,
				"chat", j.at.Chat, "error", err)
		}
	}
	return s.enqueue(s.idOf(j.kind, j.at, j.said.By), j)
}

// enqueue puts a job into a session's queue, and starts the session if it has none.
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
		s.work.Go(func() { s.processQueue(o) })
	default:
		j.late = true
	}
	s.waiting += len(j.what.text)
	o.queue = append(o.queue, j)
	return nil
}

// clearLocked empties a session's queue; s.mu is held.
func (s *Sessions) clearLocked(o *session) (dropped int) {
	for _, j := range o.queue {
		s.waiting -= len(j.what.text)
		if j.ends == nil {
			dropped++
		}
	}
	o.queue = nil
	return dropped
}

// startWork does some work in a goroutine that counts as a session, if one is free.
func (s *Sessions) startWork(work func()) (refusal Text) {
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
		defer s.endWork()
		defer s.recoverPanic(func() {})
		work()
	})
	return nil
}

func (s *Sessions) endWork() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.working--
}

// processQueue does the jobs of a session until its queue is empty.
func (s *Sessions) processQueue(o *session) {
	for {
		ctx, r := s.next(o)
		if r == nil {
			return
		}
		s.do(ctx, o, r)
		r.cancel(nil)
	}
}

// next takes the next job of a session, with a context that ends when the job is stopped.
// If there is none, the session is closed.
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
	ctx, cancel := context.WithCancelCause(s.runCtx)
	o.current = &run{job: j, since: time.Now(), cancel: cancel}
	return ctx, o.current
}

// do does one job. If that panics, no other is lost.
func (s *Sessions) do(ctx context.Context, o *session, r *run) {
	defer s.recoverPanic(func() { s.post(r, Message{Text: saying("The sidecar failed at this command; its log says how.")}) })
	if r.ends != nil {
		s.endSession(ctx, o, r)
		return
	}
	s.run(ctx, o, r)
}

// recoverPanic is deferred: it logs a panic, and then calls then.
func (s *Sessions) recoverPanic(then func()) {
	cause := recover()
	if cause == nil {
		return
	}
	s.config.Log.Error("a chat command panicked", "platform", s.config.Platform, "cause", cause, "stack", string(debug.Stack()))
	defer s.recoverPanic(func() {})
	then()
}

// stop stops the command that a session runs and those that wait. It returns nil if there
// is none.
func (s *Sessions) stop(id string, by Person) *stopped {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[id]
	if o == nil {
		return nil
	}
	what := &stopped{by: by, waiting: s.clearLocked(o)}
	if r := o.current; r != nil && r.ends == nil && !r.over {
		what.command = r.what.text
		r.cancel(what)
	}
	return what
}

// post shows a message about a command, and tries for as long as answerTimeout.
func (s *Sessions) post(r *run, m Message) {
	ctx, cancel := s.sendContext(answerTimeout)
	defer cancel()
	err := retry(ctx, nil, func(ctx context.Context) error {
		_, err := s.config.Surface.Post(ctx, r.at, m, keyOf("answer", r.at.Chat, r.said.Message))
		return err
	})
	s.logUnsent(r.at.Chat, err)
}

// whyStopped says why a command was stopped; empty if it was not.
func (s *Sessions) whyStopped(ctx context.Context, o *session) string {
	var by *stopped
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &by):
		return bailiff.Sentence(by.Error())
	case errors.Is(cause, errClosing):
		s.mu.Lock()
		defer s.mu.Unlock()
		if o.dropped > 0 {
			return fmt.Sprintf("Stopped: %v, and does not run the %s here.", errClosing,
				amount(o.dropped, "command that waits", "commands that wait"))
		}
		return fmt.Sprintf("Stopped: %v.", errClosing)
	}
	return ""
}
