package enforcer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
)

const (
	// remembered is how long an answer is given again under its request id.
	remembered = 10 * time.Minute
	// maxRemembered and maxRememberedBytes bound what is remembered. Beyond them
	// a request with an id is refused: to forget one early could run it twice.
	maxRemembered      = 20_000
	maxRememberedBytes = 64 << 20
)

// Unfinished is a request of an earlier run that may have run to any point, or
// that ended and whose answer is lost.
type Unfinished struct {
	Caller, Session, RequestID, Digest string
	// At is when it was decided or, if it has, when it ended.
	At    time.Time
	Ended bool
}

// answer is an Answer with whether anything was started for it.
type answer struct {
	bailiff.Answer
	started bool
	// sandboxGone says that the sandbox failed before the command was started.
	sandboxGone bool
}

// of completes an answer with what it answers.
func (a answer) of(req bailiff.Request) bailiff.Answer {
	a.RequestID = req.ID
	return a.Answer
}

func failed(status bailiff.Status, code string, err error) answer {
	return answer{Answer: bailiff.Answer{Status: status, Code: code, Message: bailiff.Sentence(err.Error()), ExitCode: bailiff.ExitFailed}}
}

// at names the backend that the request was to run on.
func (a answer) at(backend string) answer {
	a.Backend = backend
	return a
}

func interrupted(backend string) answer {
	return answer{Answer: bailiff.Answer{Status: bailiff.Interrupted, Backend: backend, ExitCode: bailiff.ExitInterrupted,
		Message: callerGone}}
}

// denied is the answer to a decision that lets nothing run.
func denied(d bailiff.Decision) answer {
	return answer{Answer: bailiff.Answer{Status: bailiff.Refused, ExitCode: bailiff.ExitRefused,
		Message: "Denied: " + bailiff.Sentences(d.Told().Denials)}}
}

var errConflict = errors.New("another request is known under this request id; give each request an id of its own")

var errBusy = fmt.Errorf("too many request ids of the last %.0f minutes are remembered; try again later, or without a request id",
	remembered.Minutes())

// answers remembers what was answered under a request id, for its caller and
// session, and lets a second request with the same id join the first.
type answers struct {
	mu    sync.Mutex
	known map[answerKey]*rememberedAnswer
	bytes int // of output in known
	swept time.Time
}

type answerKey struct{ caller, session, request string }

type rememberedAnswer struct {
	digest  string
	done    chan struct{} // closed when answer is set
	answer  bailiff.Answer
	expires time.Time // zero while running
}

func remember(unfinished []Unfinished) *answers {
	a := &answers{known: map[answerKey]*rememberedAnswer{}}
	for _, u := range unfinished {
		r := &rememberedAnswer{digest: u.Digest, done: make(chan struct{}), expires: time.Now().Add(remembered)}
		r.answer = bailiff.Answer{RequestID: u.RequestID, Status: bailiff.Failed, Code: bailiff.CodeOutcomeUnknown,
			ExitCode: bailiff.ExitFailed,
			Message:  "The sidecar stopped while this request ran, so its outcome is unknown; it is not run again under this id."}
		if u.Ended {
			r.expires = u.At.Add(remembered)
			r.answer.Message = "The sidecar was started anew after this request ran, so its answer is lost; it is not run again under " +
				"this id."
		}
		close(r.done)
		a.known[answerKey{u.Caller, u.Session, u.RequestID}] = r
	}
	return a
}

// once runs a request unless its id is known; then it gives that answer, and
// news of it.
func (a *answers) once(ctx context.Context, req bailiff.Request, news func(bailiff.Progress), run func() bailiff.Answer) bailiff.Answer {
	if req.ID == "" {
		return run()
	}
	key, digest := answerKey{req.Caller, req.Session.ID, req.ID}, req.Digest()
	r, first := a.claim(key, digest)
	if r == nil {
		return failed(bailiff.Unavailable, bailiff.CodeBusy, errBusy).of(req)
	}
	if first {
		r.answer = failed(bailiff.Failed, bailiff.CodeOutcomeUnknown, errShutdown).of(req) // stands only if run panics
		defer a.settle(key, r)
		r.answer = run()
		return r.answer
	}
	if r.digest != digest {
		return failed(bailiff.Failed, bailiff.CodeConflict, errConflict).of(req)
	}
	select {
	case <-r.done:
		retell(r.answer, news)
		return r.answer
	case <-ctx.Done():
		return interrupted("").of(req)
	}
}

// retell gives the news of an answer that came about for another caller.
func retell(a bailiff.Answer, news func(bailiff.Progress)) {
	if news == nil {
		return
	}
	if a.DecisionID != "" {
		news(bailiff.Progress{Decision: &bailiff.Decided{ID: a.DecisionID, Decision: a.Decision}})
	}
	if len(a.Output) > 0 {
		news(bailiff.Progress{Output: a.Output})
	}
}

// claim returns what is known under an id, or makes it; nil if there is no room.
func (a *answers) claim(key answerKey, digest string) (r *rememberedAnswer, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(time.Now())
	if r, ok := a.known[key]; ok {
		return r, false
	}
	if len(a.known) >= maxRemembered || a.bytes >= maxRememberedBytes {
		return nil, false
	}
	r = &rememberedAnswer{digest: digest, done: make(chan struct{})}
	a.known[key] = r
	return r, true
}

// settle keeps an answer that must not come about a second time.
func (a *answers) settle(key answerKey, r *rememberedAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.expires = time.Now().Add(remembered)
	if lasting(r.answer) {
		a.bytes += len(r.answer.Output)
	} else {
		delete(a.known, key)
	}
	close(r.done)
}

func lasting(a bailiff.Answer) bool {
	switch a.Status {
	case bailiff.Completed, bailiff.Refused, bailiff.TimedOut, bailiff.Interrupted:
		return true
	}
	return a.Code == bailiff.CodeOutcomeUnknown
}

// forget drops what has expired; each id is looked at about once a minute.
func (a *answers) forget(now time.Time) {
	if now.Before(a.swept.Add(time.Minute)) {
		return
	}
	a.swept = now
	for key, r := range a.known {
		if !r.expires.IsZero() && now.After(r.expires) {
			a.bytes -= len(r.answer.Output)
			delete(a.known, key)
		}
	}
}
