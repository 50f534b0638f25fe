package enforcer

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

// answer is an Answer with whether anything was started for it.
type answer struct {
	bailiff.Answer
	started bool
	// sandboxGone says that the sandbox failed before the command was started.
	sandboxGone bool
	// approved says that approvers have just let the request run, which is judged again before it does.
	approved bool
}

// of completes an answer with what it answers.
func (a answer) of(req bailiff.Request) bailiff.Answer {
	a.RequestID = req.ID
	return a.Answer
}

func failure(status bailiff.Status, code string, err error) answer {
	return answer{Answer: bailiff.Answer{Status: status, Code: code, Message: bailiff.Sentence(err.Error()), ExitCode: bailiff.ExitFailed}}
}

// at names the backend that the request was to run on.
func (a answer) at(backend string) answer {
	a.Backend = backend
	return a
}

func interruption(backend string) answer {
	return answer{Answer: bailiff.Answer{Status: bailiff.Interrupted, Backend: backend, ExitCode: bailiff.ExitInterrupted,
		Message: callerGone}}
}

// denial is the answer to a decision that lets nothing run.
func denial(d bailiff.Decision) answer {
	return answer{Answer: bailiff.Answer{Status: bailiff.Refused, ExitCode: bailiff.ExitRefused,
		Message: "Denied: " + bailiff.Sentences(d.ForSender().Denials)}}
}

var errConflict = errors.New("another request is known under this request id; give each request an id of its own")

var errBusy = fmt.Errorf("too many request ids of the last %.0f minutes are remembered; try again later, or without a request id",
	remembered.Minutes())

// answers remembers what was answered under a request id, for its caller and
// session, and lets a second request with the same id join the first.
type answers struct {
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

func remember(unfinished []Unfinished, claims Claims) *answers {
	a := &answers{claims: claims, known: map[answerKey]*rememberedAnswer{}, bare: map[[sha256.Size]byte]bareAnswer{}}
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

func unknownOutcome(id, message string) bailiff.Answer {
	return bailiff.Answer{RequestID: id, Status: bailiff.Failed, Code: bailiff.CodeOutcomeUnknown, ExitCode: bailiff.ExitFailed,
		Message: message}
}

// once runs a request unless its id is known; then it gives that answer, and
// news of it. What runs asks claimed before it begins.
func (a *answers) once(ctx context.Context, req bailiff.Request, news func(bailiff.Progress),
	run func(claimed ownID) bailiff.Answer) bailiff.Answer {
	if req.ID == "" {
		return run(atOnce)
	}
	key, digest := answerKey{req.Caller, req.Session.ID, req.ID}, req.Digest()
	r, first := a.claim(key, digest)
	if r == nil {
		return failure(bailiff.Unavailable, bailiff.CodeBusy, errBusy).of(req)
	}
	if first {
		r.answer = failure(bailiff.Failed, bailiff.CodeOutcomeUnknown, errShutdown).of(req) // stands only if run panics
		defer a.settle(key, r)
		claimed := a.claimElsewhere(ctx, req, digest)
		r.answer = run(claimed)
		_ = claimed() // the end of a claim is told after it
		return r.answer
	}
	if r.digest != digest {
		return failure(bailiff.Failed, bailiff.CodeConflict, errConflict).of(req)
	}
	select {
	case <-r.done:
		retell(r.answer, news)
		return r.answer
	case <-ctx.Done():
		return interruption("").of(req)
	}
}

// ownID waits until a request id is this sidecar's. It is nil then, or the answer to the request, of
// which nothing may begin. It may be asked again.
type ownID func() *answer

// atOnce is of a request whose id no other sidecar knows.
func atOnce() *answer { return nil }

// claimElsewhere claims an id among all sidecars, while its request is judged and recorded.
func (a *answers) claimElsewhere(ctx context.Context, req bailiff.Request, digest string) ownID {
	if a.claims == nil {
		return atOnce
	}
	var said *answer
	done := make(chan struct{})
	go func() {
		defer close(done)
		first, same, err := a.claims.Claim(ctx, req.Caller, req.Session.ID, req.ID, digest)
		said = foreignID(ctx, req.ID, first, same, err)
	}()
	return func() *answer { <-done; return said }
}

// foreignID is the answer to a request whose id is not this sidecar's; nil if it is.
func foreignID(ctx context.Context, id string, first, same bool, err error) *answer {
	var a answer
	switch {
	case ctx.Err() != nil && err != nil:
		a = interruption("")
	case err != nil:
		a = failure(bailiff.Unavailable, bailiff.CodeStore, err)
	case first:
		return nil
	case same:
		a.Answer = unknownOutcome(id, "Another sidecar began this request, and its answer is not known here; it is not run again under "+
			"this id.")
	default:
		a = failure(bailiff.Failed, bailiff.CodeConflict, errConflict)
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
func (a *answers) claim(key answerKey, digest string) (r *rememberedAnswer, first bool) {
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
func (a *answers) settle(key answerKey, r *rememberedAnswer) {
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
func (a *answers) keep(key answerKey, r *rememberedAnswer) {
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

func (a *answers) takeOldest() (answerKey, *rememberedAnswer) {
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
func (a *answers) forget(now time.Time) {
	for len(a.ended) > 0 && now.After(a.known[a.ended[0]].expires) {
		a.takeOldest()
	}
	for len(a.bareOrder) > 0 && now.Unix() > a.bare[a.bareOrder[0]].expires {
		delete(a.bare, a.bareOrder[0])
		a.bareOrder = a.bareOrder[1:]
	}
}
