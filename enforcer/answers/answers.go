// Package answers remembers what was answered under a request id.
//
// Here: an answer that is given again under its id, requests that join the first of their id, and ids that are claimed among sidecars
// which share a store. Promised: a request id runs at most once, whatever a sidecar knows of an earlier run of its own. Not
// here: what runs.
package answers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
)

const (
	// remembered is how long an answer is given again under its request id.
	remembered = 10 * time.Minute
	// maxRememberedBytes bounds what the answers take that are given again. Beyond it the
	// oldest is let go, and its id is kept.
	maxRememberedBytes = 64 << 20
	// maxBareBytes bounds what ids without their answers take. Beyond it a request with an
	// id is refused: to forget an id early could run its request twice.
	maxBareBytes = 64 << 20
	// answerBytes is about what an answer takes beside its texts, bareBytes what an id does.
	answerBytes = 2 << 10
	bareBytes   = 128
)

// Unfinished is a request of an earlier run that may have run to any point, or
// that ended and whose answer is lost.
type Unfinished struct {
	Caller, Session, RequestID, Digest string
	// At is when it was decided or, if it has, when it ended.
	At    time.Time
	Ended bool
}

// Claims are the request ids of several sidecars.
type Claims interface {
	// Claim makes an id of a caller's session this sidecar's. First says that no other has run
	// anything under it, same that another had it for the request of that digest.
	Claim(ctx context.Context, caller, session, id, digest string) (first, same bool, err error)
	// Ended says that what an id was claimed for has ended; free that nothing was run, so that
	// the id may be claimed again.
	Ended(caller, session, id string, free bool)
}

// Failure is the answer to a request that could not run.
func Failure(status bailiff.Status, code string, err error) bailiff.Answer {
	return bailiff.Answer{Status: status, Code: code, Message: bailiff.Sentence(err.Error()), ExitCode: bailiff.ExitFailed}
}

// Interruption is the answer to a request whose caller went away before anything was started.
func Interruption() bailiff.Answer {
	return bailiff.Answer{Status: bailiff.Interrupted, ExitCode: bailiff.ExitInterrupted, Message: CallerGone}
}

// CallerGone says so.
const CallerGone = "The caller went away before the command was started."

var errConflict = errors.New("another request is known under this request id; give each request an id of its own")

var errBusy = fmt.Errorf("too many request ids of the last %.0f minutes are remembered; try again later, or without a request id",
	remembered.Minutes())

// Remembered are the answers by request ids, for the caller and session of each. It is safe for concurrent use.
type Remembered struct {
	claims Claims // nil where no other sidecar knows of them
	mu     sync.Mutex
	known  map[answerKey]*rememberedAnswer
	// ended are the keys of known that have their answer, in the order in which they expire.
	ended []answerKey
	// bare are ids whose answers were let go, in the order of bareOrder.
	bare      map[[sha256.Size]byte]bareAnswer
	bareOrder [][sha256.Size]byte
	bytes     int // of what known takes
}

type answerKey struct{ caller, session, request string }

// hash stands for a key whose answer was let go.
func (k answerKey) hash() [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q", k.caller, k.session, k.request))
}

type rememberedAnswer struct {
	digest  string
	done    chan struct{} // closed when answer is set
	answer  bailiff.Answer
	bytes   int       // of the answer and its key
	expires time.Time // zero while running
}

// bareAnswer is what is left of an answer that was let go: by it the same request is known
// from another.
type bareAnswer struct {
	digest  [sha256.Size]byte
	expires int64 // in seconds since 1970
}

// Remember begins with what an earlier run left; claims may be nil.
func Remember(unfinished []Unfinished, claims Claims) *Remembered {
	a := &Remembered{claims: claims, known: map[answerKey]*rememberedAnswer{}, bare: map[[sha256.Size]byte]bareAnswer{}}
	for _, u := range unfinished {
		r := &rememberedAnswer{digest: u.Digest, done: make(chan struct{}), expires: time.Now().Add(remembered)}
		r.answer = unknownOutcome(u.RequestID,
			"The sidecar stopped while this request ran, so its outcome is unknown; it is not run again under this id.")
		if u.Ended {
			r.expires = u.At.Add(remembered)
			r.answer.Message = "The sidecar was started anew after this request ran, so its answer is lost; it is not run again under " +
				"this id."
		}
		close(r.done)
		a.keep(answerKey{u.Caller, u.Session, u.RequestID}, r)
	}
	slices.SortStableFunc(a.ended, func(x, y answerKey) int { return a.known[x].expires.Compare(a.known[y].expires) })
	return a
}

// of is an answer with the id of its request.
func of(req bailiff.Request, a bailiff.Answer) bailiff.Answer {
	a.RequestID = req.ID
	return a
}

func unknownOutcome(id, message string) bailiff.Answer {
	return bailiff.Answer{RequestID: id, Status: bailiff.Failed, Code: bailiff.CodeOutcomeUnknown, ExitCode: bailiff.ExitFailed,
		Message: message}
}

// Once runs a request unless its id is known; then it gives that answer, and
// news of it. What runs asks claimed before it begins.
func (a *Remembered) Once(ctx context.Context, req bailiff.Request, news func(bailiff.Progress),
	run func(claimed Own) bailiff.Answer) bailiff.Answer {
	if req.ID == "" {
		return run(AtOnce)
	}
	key, digest := answerKey{req.Caller, req.Session.ID, req.ID}, req.Digest()
	r, first := a.claim(key, digest)
	if r == nil {
		return of(req, Failure(bailiff.Unavailable, bailiff.CodeBusy, errBusy))
	}
	if first {
		r.answer = unknownOutcome(req.ID, "The sidecar failed while this request ran.") // stands only if run panics
		defer a.settle(key, r)
		claimed := a.claimElsewhere(ctx, req, digest)
		r.answer = run(claimed)
		_ = claimed() // the end of a claim is told after it
		return r.answer
	}
	if r.digest != digest {
		return of(req, Failure(bailiff.Failed, bailiff.CodeConflict, errConflict))
	}
	select {
	case <-r.done:
		retell(r.answer, news)
		return r.answer
	case <-ctx.Done():
		return of(req, Interruption())
	}
}

// Own waits until a request id is this sidecar's. Its value is nil then, or the answer to the request, of
// which nothing may begin. It may be asked again.
type Own func() *bailiff.Answer

// AtOnce is of a request whose id no other sidecar knows.
func AtOnce() *bailiff.Answer { return nil }

// claimElsewhere claims an id among all sidecars, while its request is judged and recorded.
func (a *Remembered) claimElsewhere(ctx context.Context, req bailiff.Request, digest string) Own {
	if a.claims == nil {
		return AtOnce
	}
	var said *bailiff.Answer
	done := make(chan struct{})
	go func() {
		defer close(done)
		first, same, err := a.claims.Claim(ctx, req.Caller, req.Session.ID, req.ID, digest)
		said = foreignID(ctx, req.ID, first, same, err)
	}()
	return func() *bailiff.Answer { <-done; return said }
}

// foreignID is the answer to a request whose id is not this sidecar's; nil if it is.
func foreignID(ctx context.Context, id string, first, same bool, err error) *bailiff.Answer {
	var a bailiff.Answer
	switch {
	case ctx.Err() != nil && err != nil:
		a = Interruption()
	case err != nil:
		a = Failure(bailiff.Unavailable, bailiff.CodeStore, err)
	case first:
		return nil
	case same:
		a = unknownOutcome(id, "Another sidecar began this request, and its answer is not known here; it is not run again under "+
			"this id.")
	default:
		a = Failure(bailiff.Failed, bailiff.CodeConflict, errConflict)
	}
	return &a
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
func (a *Remembered) claim(key answerKey, digest string) (r *rememberedAnswer, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(time.Now())
	if r, ok := a.known[key]; ok {
		return r, false
	}
	if b, ok := a.bare[key.hash()]; ok {
		return b.answer(key.request, digest), false
	}
	if len(a.bare)*bareBytes >= maxBareBytes {
		return nil, false
	}
	r = &rememberedAnswer{digest: digest, done: make(chan struct{})}
	a.known[key] = r
	return r, true
}

// answer is what the same request gets by now, and no other.
func (b bareAnswer) answer(id, digest string) *rememberedAnswer {
	r := &rememberedAnswer{done: make(chan struct{}), answer: unknownOutcome(id, "This request was answered, and so many requests were "+
		"since that its answer is no longer kept; it is not run again under this id.")}
	if b.digest == sha256.Sum256([]byte(digest)) {
		r.digest = digest
	}
	close(r.done)
	return r
}

// settle keeps an answer that must not come about a second time.
func (a *Remembered) settle(key answerKey, r *rememberedAnswer) {
	if a.claims != nil { // before the id can be claimed again
		a.claims.Ended(key.caller, key.session, key.request, !lasting(r.answer))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r.expires = time.Now().Add(remembered)
	if lasting(r.answer) {
		a.keep(key, r)
	} else {
		delete(a.known, key)
	}
	close(r.done)
}

// keep remembers an answer, and lets the oldest go for which there is no room.
func (a *Remembered) keep(key answerKey, r *rememberedAnswer) {
	r.bytes = answerBytes + len(r.answer.Output) + len(r.answer.Message) + len(key.caller) + len(key.session) + len(key.request)
	a.known[key] = r
	a.ended = append(a.ended, key)
	a.bytes += r.bytes
	for a.bytes > maxRememberedBytes {
		key, r := a.takeOldest()
		hash := key.hash()
		a.bare[hash] = bareAnswer{sha256.Sum256([]byte(r.digest)), r.expires.Unix()}
		a.bareOrder = append(a.bareOrder, hash)
	}
}

func (a *Remembered) takeOldest() (answerKey, *rememberedAnswer) {
	key := a.ended[0]
	r := a.known[key]
	a.ended = a.ended[1:]
	a.bytes -= r.bytes
	delete(a.known, key)
	return key, r
}

func lasting(a bailiff.Answer) bool {
	switch a.Status {
	case bailiff.Completed, bailiff.Refused, bailiff.TimedOut, bailiff.Interrupted:
		return true
	}
	return a.Code == bailiff.CodeOutcomeUnknown
}

// forget drops what has expired.
func (a *Remembered) forget(now time.Time) {
	for len(a.ended) > 0 && now.After(a.known[a.ended[0]].expires) {
		a.takeOldest()
	}
	for len(a.bareOrder) > 0 && now.Unix() > a.bare[a.bareOrder[0]].expires {
		delete(a.bare, a.bareOrder[0])
		a.bareOrder = a.bareOrder[1:]
	}
}
