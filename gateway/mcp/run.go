package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// clientLimits are after how long clients give a call up. Codex does so even if it hears of the
// call's progress, the others where they say by no token that they hear of it.
var clientLimits = map[string]struct {
	after  time.Duration
	isFirm bool
}{"codex-mcp-client": {5 * time.Minute, true}, "inspector-cli": {time.Minute, false}, "mcporter": {time.Minute, false}}

const (
	// toAnswer is how long before its limit a client has its answer, toAsk how long
	// before that a wait for people ends.
	toAnswer = 5 * time.Second
	toAsk    = 5 * time.Second
	// pace is how often a client is told how its call goes on.
	pace = 10 * time.Second
	// maxLeft runs are left by their calls at once, each for so long after its end.
	maxLeft  = 64
	keptLeft = 10 * time.Minute
)

// limitOf is after how long the client of a call gives it up; zero means that it does
// not, or that what it is told of the call's progress keeps it waiting.
func (s *Server) limitOf(call *sdk.CallToolRequest) time.Duration {
	if s.config.ClientTimeout > 0 {
		return s.config.ClientTimeout
	}
	who := call.ClientInfo()
	if who == nil {
		return 0
	}
	if limit := clientLimits[who.Name]; limit.isFirm || call.Params.GetProgressToken() == nil {
		return limit.after
	}
	return 0
}

// run is a request that is under way. It ends with the call that waits for it, unless
// the client's limit comes first: then it goes on by itself, with its session, and the
// same call again goes on waiting for it.
type run struct {
	key    string
	cancel context.CancelCauseFunc
	done   chan struct{}
	answer api.Answer // and err, once it is done
	err    error

	mu       sync.Mutex
	notifier *notifier // of the call that waits
	hears    context.Context
	said     string // the last news
	output   headtail.Last
}

// begin sends a request. It is ended by all that ends the server or the session of the
// call, and by the call itself as long as that waits.
func (s *Server) begin(ctx context.Context, t *notifier, req bailiff.Request, key string) *run {
	life := s.life
	if of := s.sessions.find(t.call.Session.ID()); of != nil {
		life = of.life
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unlive := context.AfterFunc(life, func() { cancel(errGone) })
	r := &run{key: key, cancel: cancel, done: make(chan struct{}), notifier: t, hears: ctx}
	go func() {
		defer close(r.done)
		defer unlive()
		defer cancel(nil)
		defer func() {
			if cause := recover(); cause != nil {
				s.logPanic("tools/call", cause)
				r.err = errBroken
			}
		}()
		r.answer, r.err = s.config.Sidecar.Execute(ctx, req, gateway.News{Approval: r.approval, Step: r.step, Output: r.print})
	}()
	return r
}

// logPanic writes down that serving a message did.
func (s *Server) logPanic(method string, cause any) {
	s.config.Log.Error("serving a message of MCP panicked", "listener", s.config.Name, "method", method, "cause", cause,
		"stack", string(debug.Stack()))
}

// follow waits for a run's end, or until the client's limit is near, and tells the
// client meanwhile that it goes on.
func (s *Server) follow(ctx context.Context, t *notifier, r *run, limit time.Duration) *sdk.CallToolResult {
	r.tellTo(ctx, t)
	defer r.tellTo(context.WithoutCancel(ctx), nil)
	var near <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(max(limit-toAnswer, limit/2))
		defer timer.Stop()
		near = timer.C
	}
	ticks := time.NewTicker(s.config.pace)
	defer ticks.Stop()
	for {
		select {
		case <-r.done:
			return r.result()
		case <-ctx.Done():
			r.cancel(context.Cause(ctx))
			<-r.done
			return r.result()
		case <-ticks.C:
			t.notify(ctx, cmp.Or(r.latest(), "It still runs."))
		case <-near:
			if s.left.leave(r) {
				return stillRuns(r, limit)
			}
			near = nil // the client may wait longer than is known of it
		}
	}
}

// tellTo has a run told to the client of another call, or to none.
func (r *run) tellTo(ctx context.Context, t *notifier) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hears, r.notifier = ctx, t
}

func (r *run) told() (context.Context, *notifier) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hears, r.notifier
}

func (r *run) note(news string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = news
}

func (r *run) approval(news api.Approval) {
	r.note(below(said(news), news.URL))
	if ctx, t := r.told(); t != nil {
		t.approval(ctx, news)
	}
}

func (r *run) step(what string) {
	r.note(what)
	if ctx, t := r.told(); t != nil {
		t.notify(ctx, what)
	}
}

func (r *run) print(piece []byte) { _, _ = r.output.Write(piece) }

// latest is the last line of output, or else the last news.
func (r *run) latest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(lastLine(r.output.String()), r.said)
}

// longestLastLine is how much of a line of output is told, in characters.
const longestLastLine = 200

// lastLine is the last line of a text, without what would do something to a terminal.
func lastLine(text string) string {
	line := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, text[strings.LastIndexAny(text, "\r\n")+1:]))
	return string(line[:min(len(line), longestLastLine)])
}

// pending is what a run that is done left people to answer, if it did.
func (r *run) pending() *api.Approval {
	select {
	case <-r.done:
	default:
		return nil // it was left
	}
	if r.err != nil || r.answer.Status != bailiff.ApprovalRequired {
		return nil
	}
	return r.answer.Approval
}

// result is that of a run that is done.
func (r *run) result() *sdk.CallToolResult {
	if r.err != nil {
		return failureResult(r.err)
	}
	return told(r.answer)
}

// stillRuns is the result of a call that had to end before its run does.
func stillRuns(r *run, limit time.Duration) *sdk.CallToolResult {
	said := fmt.Sprintf("It still runs; this call ends because its client would give it up after %v. Make the same call again, "+
		"word by word, to go on waiting for it: it is not run a second time.", limit)
	if latest := r.latest(); latest != "" {
		said += " Last said: " + latest
	}
	return resultOf(said, Result{Status: stillRunning, Message: said})
}

// stillRunning is the status of a result that comes before the end of its run.
const stillRunning bailiff.Status = "running"

// leftRuns are those that their calls left, by what was asked.
type leftRuns struct {
	mu  sync.Mutex
	all map[string]*run
}

// keyOf tells requests apart; a call finds only what its own peer asked in its session.
func keyOf(req bailiff.Request) string {
	peer := req.Peer
	req.WaitSeconds = 0
	text, _ := json.Marshal(req) // it was read from JSON
	return peer + "\n" + string(text)
}

// take hands out the run of the same request that a call left, to one call; nil means
// that there is none.
func (rs *leftRuns) take(key string) *run {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.all[key]
	delete(rs.all, key)
	return r
}

// leave keeps a run for the next call of the same, if there is room. A run that is not asked
// for is forgotten a while after its end.
func (rs *leftRuns) leave(r *run) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if _, there := rs.all[r.key]; there || len(rs.all) >= maxLeft {
		return false
	}
	if rs.all == nil {
		rs.all = map[string]*run{}
	}
	rs.all[r.key] = r
	go func() {
		<-r.done
		time.AfterFunc(keptLeft, func() { rs.forget(r) })
	}()
	return true
}

func (rs *leftRuns) forget(r *run) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.all[r.key] == r {
		delete(rs.all, r.key)
	}
}
