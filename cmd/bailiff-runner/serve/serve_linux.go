package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/files"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/journal"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/processes"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/quota"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/relay"
)

// runner is this process when it is the resident one: it passes frames between
// its client and the supervisors, keeps the time, kills, and counts.
type runner struct {
	out     *wire.Writer
	pool    pool
	starved starvation
	outlet  *relay.Outlet
	monitor *quota.Monitor

	mu sync.Mutex
	// jobs are those that the client has an open stream for, by stream; background
	// those that no client has forgotten, in the order of their start.
	jobs       map[uint32]*job
	background []*job

	// linger is how long the runner goes on when it hears nothing, zero for ever;
	// silence is when that will have been too long. epoch is the highest of any sidecar's
	// run that greeted. Only serve touches them.
	linger  time.Duration
	silence *time.Timer
	epoch   int64
}

// job is a command, as the runner sees it.
type job struct {
	wire.Terms
	stream uint32
	slot   *slot
	timer  *time.Timer
	// whole is set when the message that starts it has come to its end.
	whole bool
	began time.Time
	// starved is how often the sandbox had run out of memory when the job came.
	starved int
	// gone is closed when no process of the command is left.
	gone chan struct{}

	mu                    sync.Mutex
	timedOut, interrupted bool
	ended                 bool
	// filling says that the job was killed because the folder was over its bound, by so much.
	filling bool
	excess  wire.Excess

	// journal is what a background command that has ended wrote, and over, set
	// after it and guarded by the runner's lock, how it ended.
	journal *journal.Journal
	over    *wire.End
}

// threadsOfRunner is more threads than a runner ever needs at once.
const threadsOfRunner = 16

// Run runs commands for a client that speaks over standard input and output, until the input ends. Confined says that no
// command can change the resource limits of this process and its supervisors.
func Run(confined bool) error {
	runtime.GOMAXPROCS(2) // one of them may be waiting for a child that was stopped
	processes.StartThreads(threadsOfRunner)
	in := flow.File(0)
	r := &runner{out: wire.NewWriter(flow.File(1)), jobs: map[uint32]*job{}}
	r.outlet, r.monitor = relay.New(r.out, r.pool.labelOf), quota.New(r.atWork)
	if confined {
		r.starved = openStarvation()
	} else if own, err := readLimits(0); err == nil {
		r.pool.limits = &own
	}
	r.pool.open(r.hear, r.lost)
	defer r.pool.close()
	r.silence = time.AfterFunc(unheard, r.die)
	reader := wire.NewBulkReader(in)
	for {
		f, err := reader.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		if !r.isOutdated(f) {
			r.heard()
			r.obey(f)
		}
	}
}

// unheard is how long a runner waits to be greeted.
const unheard = 2 * time.Minute

// heard puts off the end that silence brings.
func (r *runner) heard() {
	if r.linger > 0 {
		r.silence.Reset(r.linger)
	}
}

// die ends a runner whose client seems to be gone for good, with everything in it.
func (r *runner) die() {
	r.pool.close()
	os.Exit(0)
}

// isOutdated says whether a frame is of a sidecar's run that a later one has superseded: nothing of it counts, not even that
// the run is there. What awaits an answer is refused. Clients share the stream, so each frame bears its run's epoch.
func (r *runner) isOutdated(f wire.Frame) bool {
	if f.Kind == wire.Hello || f.Epoch >= r.epoch {
		return false
	}
	switch f.Kind {
	case wire.Start, wire.Count, wire.Kill, wire.Digest, wire.Read, wire.Match, wire.Resolve, wire.Log, wire.Feed, wire.Stop,
		wire.Forget, wire.Outlet:
		r.refuse(f.Stream, wire.Superseded, fmt.Errorf("its epoch is %d, this one's is %d", r.epoch, f.Epoch))
	}
	return true
}

// obey does what the client says.
func (r *runner) obey(f wire.Frame) {
	switch f.Kind {
	case wire.Hello:
		r.greet(f)
	case wire.Start:
		r.start(f)
	case wire.Stdin, wire.Credit, wire.Break:
		r.relay(f)
	case wire.Log, wire.Feed, wire.Stop, wire.Forget:
		r.inquire(f)
	case wire.Interrupt:
		if j := r.job(f.Stream); j != nil && j.slot != nil {
			go r.stop(j, &j.interrupted)
		}
	case wire.Count:
		stream := f.Stream
		go func() { r.say(wire.Counted, stream, wire.Encode(wire.Number(r.pool.leftovers()))) }()
	case wire.Kill:
		stream := f.Stream
		go func() {
			r.pool.clear()
			r.say(wire.Killed, stream, wire.Encode(wire.Number(r.pool.leftovers())))
		}()
	case wire.Outlet, wire.Named, wire.Carry, wire.Allow, wire.Widen, wire.Cut:
		r.outlet.Hear(f)
	case wire.Digest:
		stream, payload := f.Stream, bytes.Clone(f.Payload)
		go r.digest(stream, payload)
	case wire.Read:
		stream, payload := f.Stream, bytes.Clone(f.Payload)
		go r.read(stream, payload)
	case wire.Match:
		stream, payload := f.Stream, bytes.Clone(f.Payload)
		go r.match(stream, payload)
	case wire.Resolve:
		stream, payload := f.Stream, bytes.Clone(f.Payload)
		go r.resolve(stream, payload)
	}
}

// digest answers what the contents of files are.
func (r *runner) digest(stream uint32, payload []byte) {
	asked, err := wire.Decode[wire.Files](payload)
	var digests []string
	if err == nil {
		digests, err = files.Digests(asked)
	}
	r.answer(stream, wire.Digested, wire.Encode(wire.Digests(digests)), err)
}

// read answers what a part of a file is.
func (r *runner) read(stream uint32, payload []byte) {
	asked, err := wire.Decode[wire.Reading](payload)
	var part wire.Part
	if err == nil {
		part, err = files.Part(asked)
	}
	r.answer(stream, wire.Found, wire.Encode(part), err)
}

// match answers which files match a pattern.
func (r *runner) match(stream uint32, payload []byte) {
	asked, err := wire.Decode[wire.Pattern](payload)
	var matches wire.Matches
	if err == nil {
		matches, err = files.Match(asked)
	}
	r.answer(stream, wire.Matched, wire.Encode(matches), err)
}

// resolve answers which links are on the way of paths.
func (r *runner) resolve(stream uint32, payload []byte) {
	asked, err := wire.Decode[wire.Files](payload)
	var ground wire.Ground
	if err == nil {
		ground = files.Resolve(asked)
	}
	r.answer(stream, wire.Resolved, wire.Encode(ground), err)
}

// answer answers a question about files, or says why not.
func (r *runner) answer(stream uint32, kind wire.Kind, said []byte, err error) {
	if err != nil {
		r.refuse(stream, wire.Unfit, err)
		return
	}
	r.say(kind, stream, said)
}

// greet answers a client. What ran for an earlier one is ended, since its output
// has no reader, but for background commands; and its connections are cut. One whose run was
// superseded is told so, and nothing changes.
func (r *runner) greet(f wire.Frame) {
	g, err := wire.Decode[wire.Greeting](f.Payload)
	if err != nil {
		return
	}
	if g.Epoch < r.epoch {
		r.say(wire.Hello, 0, wire.Encode(wire.Greeting{Version: wire.Version, Nonce: g.Nonce, Epoch: r.epoch}))
		return
	}
	r.epoch = g.Epoch
	if r.silence.Stop(); g.Linger > 0 {
		r.silence.Reset(g.Linger)
	}
	r.linger = g.Linger
	r.outlet.Supersede()
	r.monitor.Bind(g.Bound)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		r.leaveBehind(j)
	}
	clear(r.jobs)
	g.Version, g.Processes = wire.Version, r.known()
	r.say(wire.Hello, 0, wire.Encode(g))
}

// leaveBehind is for a job whose client is gone. A supervisor that will never
// hear the rest of what it is to start is given up.
func (r *runner) leaveBehind(j *job) {
	switch {
	case j.slot == nil:
	case !j.whole:
		r.background = without(r.background, j)
		j.slot.file.Close()
	case j.Mode != wire.Background:
		go r.stop(j, &j.interrupted)
	}
}

// start hands the message that starts a command to a supervisor, frame by frame.
func (r *runner) start(f wire.Frame) {
	if j := r.job(f.Stream); j != nil {
		r.goOn(j, f)
		return
	}
	terms, err := wire.DecodeTerms(f.Payload)
	if err != nil {
		r.refuse(f.Stream, wire.Unfit, err)
		return
	}
	j := &job{Terms: terms, stream: f.Stream, began: time.Now(), starved: r.starved.count(), gone: make(chan struct{})}
	if reason, err := r.admit(j); err != nil {
		r.refuse(f.Stream, reasonOf(err, reason), err)
	} else if j.Timeout > 0 {
		j.mu.Lock()
		j.timer = time.AfterFunc(j.Timeout, func() { r.stop(j, &j.timedOut) })
		j.mu.Unlock()
	}
	r.monitor.Watch()
	r.goOn(j, f)
}

// admit finds a supervisor for a job. One that finds none is known until the
// message that was to start it has come to its end.
func (r *runner) admit(j *job) (wire.Reason, error) {
	if err := r.know(j); err != nil {
		return wire.Unfit, err
	}
	if err := r.pool.take(j); err != nil {
		r.disown(j)
		return wire.Broken, err
	}
	return 0, nil
}

// goOn passes on a part of the message that starts a job.
func (r *runner) goOn(j *job, f wire.Frame) {
	j.whole = f.Last
	switch {
	case j.slot != nil:
		j.slot.say(f)
	case j.whole:
		r.forget(j)
	}
}

func (r *runner) refuse(stream uint32, reason wire.Reason, err error) {
	r.say(wire.Refused, stream, wire.Encode(wire.Refusal{Reason: reason, Text: err.Error()}))
}

// relay passes a frame to the supervisor of its stream.
func (r *runner) relay(f wire.Frame) {
	if j := r.job(f.Stream); j != nil && j.slot != nil {
		j.slot.say(f)
	}
}

// hear takes what a supervisor says about its job.
func (r *runner) hear(j *job, f wire.Frame) {
	if f.Stream != j.stream {
		r.pass(f)
		return
	}
	switch f.Kind {
	case wire.Output, wire.Credit, wire.Started:
		r.say(f.Kind, j.stream, f.Payload)
	case wire.Line:
		_ = r.out.Send(wire.Frame{Kind: f.Kind, Stream: j.stream, Payload: f.Payload, Last: f.Last})
	case wire.LogHandedOver:
		r.inherit(j, f.Payload)
	case wire.Refused:
		j.finish()
		close(j.gone)
		r.disown(j)
		r.pool.release(j.slot)
		r.forget(j)
		r.say(f.Kind, j.stream, f.Payload)
	case wire.Gone:
		close(j.gone)
		r.pool.release(j.slot)
	case wire.Ended:
		if end, err := wire.Decode[wire.End](f.Payload); err == nil {
			r.end(j, end)
		}
	}
}

// pass gives who asked a supervisor something its answer. What is left to say of
// an earlier job is dropped.
func (r *runner) pass(f wire.Frame) {
	switch f.Kind {
	case wire.Logged, wire.Done, wire.Refused:
		r.say(f.Kind, f.Stream, f.Payload)
	}
}
