// Package pdp is the policy decision point: it turns a request into a decision
// by the security team's Rego policies. It and the packages below it are the only ones that know
// OPA, and it alone watches files.
//
// The policies are one immutable snapshot. A request is judged by the snapshot
// that was in force when it came, from its facts to its revision. A new snapshot
// takes the old one's place only as a whole, and only if everything about it is
// right: it parses, it compiles as strictly as "opa check --strict" with the
// schema of the input document, and its own tests pass, each on exactly what it can read of these files (package passes
// says which need not be run again). Until then the last good
// one stays in force and the faults are told. At start-up there is none to keep,
// so that any fault is fatal. The embedded policies are part of the program: their
// tests and their tables pass before it is released, and are not checked again at each start.
//
// What is promised of a decision: the policies' answer is read strictly, and
// an answer that is no decision (undefined, a conflict, an error, out of time, an
// unknown key or value, parts that contradict each other) is a denial by the
// rule "policy.invalid" or "policy.error". A denial in the answer always wins.
// Guards speak before the policies and can only deny; where one does, the policies
// are not asked, so that it holds whatever is wrong with them.
// A call of a built-in that fails is undefined, as in stock OPA, so that "opa test" and "opa eval" give the
// results that bailiff gives.
//
// A request that was judged a moment ago need not be judged again: where the
// policies are sure to depend on nothing but data and the input document without
// its time (package dependencies), a snapshot remembers its sound judgements (package memo), and what single rules and functions
// are (package rulecache). What is remembered goes with the snapshot.
//
// The way of policies into force is source (files), policyset (parsed, compiled, checked), regotest (their tests), snapshot; that
// of a request is document (facts, input document), evaluation, answers (the decision).
//
// What is not here: the facts (package facts) and the floor that no policy lifts
// (package enforcer).
package pdp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os/exec"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/facts"
	"github.com/bailiff-dev/bailiff/internal/judging/history"
	"github.com/bailiff-dev/bailiff/internal/judging/tables"
	"github.com/bailiff-dev/bailiff/internal/pdp/answers"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/internal/record/outage"
)

// Observer is told how every reload ended, and the revision in force after it; and of each evaluation that took too long.
type Observer interface {
	Reloaded(ok bool, revision string)
	OutOfTime()
}

// Guard speaks before the policies, and can only deny. The facts are those of the
// request's text, nil where it has none of the kind. Where it says no, the
// policies are not asked.
//
// It must be pure: what it says of a request is remembered like any judgement,
// but for its faults. A fault is a denial, whatever else is said.
type Guard interface {
	Check(ctx context.Context, req bailiff.Request, command *facts.Command, code *facts.Code) (denials []bailiff.Reason, fault error)
}

// Config says which policies decide and how.
type Config struct {
	// Paths are folders and files of policies; none means the embedded ones.
	Paths []string
	// Archive is in the place of paths; [PDP.Offer] gives others.
	Archive *source.Archive
	// RequireTests lets policies into force only if they have tests and all pass.
	// The embedded ones passed theirs before this program was released.
	RequireTests bool
	// TestCommand runs the required tests, as [regotest.Serve] does; nil means that this process runs them.
	TestCommand func(context.Context) *exec.Cmd
	// Untested has no tests run or parsed, required ones included: it is for programs that put nothing in force. [PDP.Tested] says
	// whether the tests are known to pass.
	Untested bool
	// Passes remembers which files and tests passed; nil has all be checked each time.
	Passes *passes.Memory
	// EvalTimeout is how long one decision may take; zero means 250 ms.
	EvalTimeout time.Duration
	// Home is the home folder of whom local commands run as, so that facts can
	// write it "~". Empty means unknown.
	Home string
	// People are those whom the table of roles may name, for [OpenChecked]; the zero value has no name be checked.
	People tables.People
	// Guard may be missing.
	Guard Guard
	// Explained keeps what [PDP.Explain] needs, which takes memory.
	Explained bool
	// ExplainTimeout is how long an explanation may take; zero means five seconds.
	ExplainTimeout time.Duration
	// History keeps what comes into force, so that it can be rolled back to; it may be
	// missing.
	History *history.History
	// Log hears of reloads, and Observer of evaluations, too; both may be missing.
	Log      *slog.Logger
	Observer Observer
}

const defaultTimeout = 250 * time.Millisecond

// PDP decides. It is safe for concurrent use.
type PDP struct {
	config       Config
	inForce      atomic.Pointer[snapshot]
	pollInterval time.Duration
	tests        *regotest.Process // nil where this process runs the tests
	// facts reads what a request's text would do.
	facts func(req bailiff.Request, at bailiff.Circumstances, home string) document.Reading

	reloading sync.Mutex              // keeps reloads apart
	archive   *source.Archive         // guarded by reloading; nil where the paths count
	last      atomic.Pointer[attempt] // as long as a reload goes on: the one before
	trying    atomic.Pointer[string]  // the content of the files that a reload is at, or was

	// rolledBack is the word by which former policies are in force, nil while the
	// configuration's are.
	rolledBack atomic.Pointer[api.Rollback]
	replaced   atomic.Pointer[string] // see [Status.Replaced]
	unkept     outage.Outage          // why the history lacks what is in force
}

// attempt is how a reload ended.
type attempt struct {
	at     time.Time
	faults source.Faults
	// content is the digest of the files it read, so that the same files are not
	// tried twice.
	content string
	// revision is that of the files, if they could be read.
	revision string
}

// Status is what an operator may want to know of the policies.
type Status struct {
	Revision string
	Loaded   time.Time
	Files    []string
	// Bundles are the revisions that bundles give themselves, by their archives.
	Bundles map[string]string
	// Reloaded is when files were last looked into, OK whether the policies in
	// force are those in the files, and Faults why they are not.
	Reloaded time.Time
	OK       bool
	Faults   []source.Fault
	// RolledBack is the word by which former policies are in force; nil while those in
	// the files are. Waiting is the revision of the files meanwhile, if they can be read.
	RolledBack *api.Rollback
	Waiting    string
	// Replaced is the later revision in whose place the bundle server gave the one in
	// force, which was before; empty where nothing went back.
	Replaced string
	// Unkept is why the history lacks what is in force; nil if it has it.
	Unkept error
}

// Open loads the policies, or those that an operator has rolled back to. Everything
// that is wrong with them is in the error, which is then a [source.Faults]. Where something is
// rolled back, those of the configuration need not be sound: [PDP.Sound] says whether
// they are.
func Open(ctx context.Context, c Config) (*PDP, error) {
	p := prepared(c)
	p.reloading.Lock()
	defer p.reloading.Unlock()
	if err := p.restore(ctx); err != nil {
		return nil, err
	}
	faults := p.load(ctx, true)
	if len(faults) > 0 && (p.rolledBack.Load() == nil || ctx.Err() != nil) { // what was cut short is remembered nowhere
		return nil, faults
	}
	return p, nil
}

// prepared is a PDP without policies.
func prepared(c Config) *PDP {
	if c.EvalTimeout == 0 {
		c.EvalTimeout = defaultTimeout
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	p := &PDP{config: c, pollInterval: pollInterval, facts: document.Read, archive: c.Archive}
	p.last.Store(&attempt{})
	if c.TestCommand != nil {
		p.tests = regotest.NewProcess(c.TestCommand, c.Passes)
	}
	return p
}

// Decide judges a request. It never fails: a fault is a denial that says so.
func (p *PDP) Decide(ctx context.Context, req bailiff.Request, at bailiff.Circumstances) (j bailiff.Judgement) {
	s := p.inForce.Load()
	req.Backend = bailiff.BackendName(req.Backend)
	defer func() {
		if cause := recover(); cause != nil {
			j.Decision, j.Fault = answers.Failure(fmt.Errorf("judging the request: panic: %v", cause))
			p.config.Log.Error("judging a request panicked", "request_id", req.ID, "cause", cause, "stack", string(debug.Stack()))
		}
		j.Decision.Revision = s.revision
	}()
	clock := stopwatch{last: time.Now(), timers: make(map[string]int64, 4)}
	j.Timers = clock.timers
	key := s.requests.Key(req, at)
	if s.requests.Recall(key, &j, at) {
		clock.lap("timer_bailiff_recall_ns")
		return j
	}
	p.judge(ctx, s, req, at, &j, &clock)
	s.requests.Keep(key, &j, req.Args.Workdir, at)
	return j
}

// judge goes the whole way from the request to the decision.
func (p *PDP) judge(ctx context.Context, s *snapshot, req bailiff.Request, at bailiff.Circumstances, j *bailiff.Judgement,
	clock *stopwatch) {
	text := p.facts(req, at, p.config.Home)
	input := text.Document(req, at)
	written := document.NewJSON(input)
	j.Input, j.Files, j.Plain = written, document.FilesOf(input), isPlain(req, text)
	j.Opens = text.Opens()
	j.Paths, j.AllPaths = text.Paths()
	j.Changes, j.AllChanges = text.Changes(req, p.config.Home)
	j.Discards = text.Discards()
	j.Implied, j.Unknown = text.Implied(), text.Unknown()
	j.Reaches, j.Origins, j.Hosts, j.Loads = text.Reaches(), text.Origins(), text.Hosts(), text.Loads()
	if j.Plain && req.Tool == bailiff.Terminal {
		j.Call = facts.OnlyCall(*text.Command)
	}
	clock.lap("timer_bailiff_facts_ns")
	if text.Fault != nil {
		j.Decision, j.Fault = answers.Failure(text.Fault)
		return
	}
	if p.config.Guard != nil {
		denials, fault := p.config.Guard.Check(ctx, req, text.Command, text.Code)
		clock.lap("timer_bailiff_guards_ns")
		if len(denials) > 0 || fault != nil {
			j.Decision, j.Fault = bailiff.Decision{Outcome: bailiff.Deny, Denials: denials}, fault
			return
		}
	}
	key := ""
	if at.Spent == nil { // else it differs for almost each request
		key = s.documents.Key(written)
	}
	if d, known := s.documents.Recall(key); known {
		j.Decision = d
		clock.lap("timer_bailiff_alike_ns")
		return
	}
	answer, err := s.decide(ctx, input, at.Time, p.config.EvalTimeout)
	clock.lap("timer_rego_query_eval_ns")
	p.noteTime(err)
	if j.Decision, j.Fault = answers.Decision(answer, err, at.Backends); j.Fault == nil {
		s.documents.Keep(key, j.Decision, answer)
	}
	clock.lap("timer_bailiff_decode_ns")
}

// noteTime tells of an evaluation that took too long.
func (p *PDP) noteTime(err error) {
	if errors.Is(err, evaluation.ErrNoAnswer) && p.config.Observer != nil {
		p.config.Observer.OutOfTime()
	}
}

// isPlain says whether the request is a shell text that means what it says. What
// comes on standard input may be part of any text.
func isPlain(req bailiff.Request, text document.Reading) bool {
	if req.Tool == bailiff.Process {
		return req.Args.IsTyped() && text.Command.Complete
	}
	return req.Tool == bailiff.Terminal && req.Args.Stdin == "" && facts.Plain(*text.Command)
}

// stopwatch writes down how long each step took.
type stopwatch struct {
	last   time.Time
	timers map[string]int64
}

func (s *stopwatch) lap(name string) {
	now := time.Now()
	s.timers[name] = now.Sub(s.last).Nanoseconds()
	s.last = now
}

// Query answers with another document than the decision, such as "house/report",
// about the same input document.
func (p *PDP) Query(ctx context.Context, req bailiff.Request, at bailiff.Circumstances, path string) (result any, defined bool, err error) {
	defer p.survive(path, &defined, &err)
	return p.query(ctx, p.facts(req, at, p.config.Home).Document(req, at), at.Time, path)
}

// Read answers with a document about any input, as JSON, of which nothing is
// computed, such as "agent/call/asked".
func (p *PDP) Read(ctx context.Context, input []byte, path string) (result any, defined bool, err error) {
	defer p.survive(path, &defined, &err)
	value, err := ast.ValueFromReader(bytes.NewReader(input))
	if err != nil {
		return nil, false, fmt.Errorf("reading the input: %w", err)
	}
	return p.query(ctx, value, time.Now(), path)
}

// survive turns a panic into the error of a query.
func (p *PDP) survive(path string, defined *bool, err *error) {
	if cause := recover(); cause != nil {
		*defined, *err = false, fmt.Errorf("querying %s: panic: %v", path, cause)
		p.config.Log.Error("querying the policies panicked", "path", path, "cause", cause, "stack", string(debug.Stack()))
	}
}

func (p *PDP) query(ctx context.Context, input ast.Value, at time.Time, path string) (result any, defined bool, err error) {
	query, err := p.inForce.Load().query(ctx, path)
	if err != nil {
		return nil, false, err
	}
	answer, err := evaluation.Run(ctx, query, input, at, p.config.EvalTimeout)
	if err != nil || answer == nil {
		return nil, false, err
	}
	result, err = ast.JSON(answer.Value)
	return result, err == nil, err
}

// Revision is that of the policies in force.
func (p *PDP) Revision() string { return p.inForce.Load().revision }

// Sound is nil if nothing is wrong with the policies of the configuration, as they were
// found last; else it is a [source.Faults]. What is in force may be others.
func (p *PDP) Sound() error {
	if last := p.last.Load(); len(last.faults) > 0 {
		return last.faults
	}
	return nil
}

// Tested says whether the policies of the configuration are this program's own, or are known to have passed what is required of
// them.
func (p *PDP) Tested() bool {
	return p.isOwn() || p.config.Passes.Has(p.config.Passes.Files(p.inForce.Load().content, p.config.RequireTests))
}

// Status tells of the policies in force and of the last reload. It does not wait
// for one that goes on.
func (p *PDP) Status() Status {
	last, s := p.last.Load(), p.inForce.Load()
	status := Status{
		Revision: s.revision, Loaded: s.loaded, Files: s.files, Bundles: maps.Clone(s.bundles),
		Reloaded: last.at, OK: len(last.faults) == 0, Faults: last.faults, RolledBack: p.rolledBack.Load(), Unkept: p.unkept.Err(),
	}
	if status.RolledBack != nil {
		status.Waiting = last.revision
	}
	if later := p.replaced.Load(); later != nil {
		status.Replaced = *later
	}
	return status
}
