package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// MostCalls is how many tools a script may call, longestCall how long the
// arguments of a call may be.
const (
	MostCalls   = 50
	longestCall = 1 << 20
)

// Script is one execution in a kernel.
type Script struct {
	Code string
	// Workdir is absolute; empty means where the interpreter was started.
	Workdir string
	// Timeout is when the script is stopped, with all that it started.
	Timeout time.Duration
	// HeadBytes and TailBytes bound the output as those of a [backends.Command] do.
	HeadBytes, TailBytes int
	// Tools are the names that bailiff_tools offers.
	Tools []string
	// UserSite lets it import what users of the sandbox installed for themselves.
	UserSite bool
	// Last ends the interpreter after the script, as that of a program ends.
	Last bool
}

// Call is a script's call of a tool.
type Call struct {
	Tool string
	// Arguments are a JSON object.
	Arguments json.RawMessage
}

// Result is what a script gets for a call: a value, or the text of a fault.
type Result struct {
	Value json.RawMessage
	Fault string
}

// Exit is how a script ended.
type Exit struct {
	backends.Exit
	// Ended says that the interpreter ended too, and its variables are lost.
	Ended bool
	// Restless says that it was ended since the script went on after its end.
	Restless bool
	// Calls counts the tools that it called.
	Calls int
}

// run is a script that is running.
type run struct {
	kernel *Kernel
	last   bool
	// handle answers a call, abandon ends those that are being answered.
	handle  func(word)
	abandon context.CancelFunc
	ended   chan word

	mu    sync.Mutex
	out   headtail.Writer
	over  bool
	calls int
	open  sync.WaitGroup
}

// Run runs a script to its end; one at a time. Output goes to out and calls go to
// call, out never concurrently and neither after Run has returned; calls may come
// at the same time as each other. When ctx ends, the script and everything it
// started is stopped and Exit.Interrupted set. Errors are those of [backends.Sandbox.Run].
func (k *Kernel) Run(ctx context.Context, s Script, out func([]byte), call func(context.Context, Call) Result) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, fmt.Errorf("%w: %w", backends.ErrNotStarted, err)
	}
	calls, abandon := context.WithCancel(ctx)
	r := &run{kernel: k, last: s.Last, abandon: abandon, ended: make(chan word, 1),
		out: headtail.Writer{Head: s.HeadBytes, Tail: s.TailBytes, Emit: out}}
	r.handle = func(w word) {
		result := call(calls, Call{w.Tool, w.Arguments})
		k.answer(reply{w.Call, result.Value, result.Fault})
	}
	start := time.Now()
	k.say(ctx, k.begin(r, s))
	exit, err := r.await(ctx, s.Timeout)
	exit.Dropped, exit.Calls = r.finish()
	exit.Duration = time.Since(start)
	return exit, err
}

// begin makes a script the one that runs, and words it for the interpreter.
func (k *Kernel) begin(r *run, s Script) any {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = r
	k.rested = nil
	k.number = 1 + rand.IntN(math.MaxInt)
	return struct {
		Script   int      `json:"script"`
		Code     string   `json:"code"`
		Dir      string   `json:"dir"`
		Tools    []string `json:"tools"`
		UserSite bool     `json:"user_site"`
		Last     bool     `json:"last"`
	}{k.number, s.Code, s.Workdir, append([]string{}, s.Tools...), s.UserSite, s.Last}
}

// await returns how the script ends, or stops it.
func (r *run) await(ctx context.Context, timeout time.Duration) (Exit, error) {
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case w := <-r.ended:
		return r.leave(ctx, w, late)
	case <-r.kernel.Done():
		return r.died("")
	case <-late.C:
		return r.interrupt(ctx, backends.Exit{TimedOut: true})
	case <-ctx.Done():
		return r.interrupt(ctx, backends.Exit{Interrupted: true})
	}
}

// leave is the way of a script that came to its end.
func (r *run) leave(ctx context.Context, w word, late *time.Timer) (Exit, error) {
	if !r.last && !r.kernel.isAtRest(ctx) {
		exit, err := r.kill(ctx, r.exit(w))
		exit.Restless = true
		return exit, err
	}
	switch {
	case w.Unfit != "":
		return Exit{Ended: r.last}, fmt.Errorf("%w: %w: %s", backends.ErrNotStarted, backends.ErrUnfit, w.Unfit)
	case !r.last:
		return Exit{Exit: r.exit(w)}, nil
	}
	select {
	case <-r.kernel.Done():
		return r.died(w.Dir)
	case <-late.C:
		return r.kill(ctx, backends.Exit{TimedOut: true})
	case <-ctx.Done():
		return r.kill(ctx, backends.Exit{Interrupted: true})
	}
}

func (r *run) exit(w word) backends.Exit {
	return backends.Exit{Code: w.Code, Workdir: w.Dir, InWorkspace: w.Dir != "" && w.Dir == r.kernel.home}
}

// died is the end of a script whose interpreter ended.
func (r *run) died(dir string) (Exit, error) {
	how := r.kernel.dialogue.Exit()
	how.Workdir, how.InWorkspace = dir, dir != "" && dir == r.kernel.home
	return Exit{Exit: how, Ended: true}, nil
}

// interrupt stops a script, and the interpreter too where that is not enough. The
// threads of a script cannot be stopped without it.
func (r *run) interrupt(ctx context.Context, how backends.Exit) (Exit, error) {
	r.abandon()
	if r.kernel.dialogue.Break() != nil {
		return r.kill(ctx, how)
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case w := <-r.ended:
		if w.Left > 0 || w.Unfit != "" || r.last || !r.kernel.isAtRest(ctx) {
			return r.kill(ctx, how)
		}
		exit := r.exit(w)
		exit.TimedOut, exit.Interrupted = how.TimedOut, how.Interrupted
		return Exit{Exit: exit}, nil
	case <-late.C:
	case <-r.kernel.Done():
	}
	return r.kill(ctx, how)
}

func (r *run) kill(ctx context.Context, how backends.Exit) (Exit, error) {
	if err := r.kernel.End(ctx); err != nil {
		return Exit{Exit: how, Ended: true}, fmt.Errorf("ending the interpreter: %w", err)
	}
	how.Starved = r.kernel.dialogue.Exit().Starved
	return Exit{Exit: how, Ended: true}, nil
}

// end is the script's own word that it has ended. The interpreter of the last one
// may still print.
func (r *run) end(w word) {
	if !r.last {
		r.kernel.forget(r)
	}
	select {
	case r.ended <- w:
	default: // it said so before
	}
}

func (k *Kernel) forget(r *run) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now == r {
		k.now = nil
	}
}

// take is given the output piece by piece.
func (r *run) take(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		_, _ = r.out.Write(p) // never fails
	}
}

// finish ends what the script's calls still do, and counts.
func (r *run) finish() (dropped int64, calls int) {
	r.kernel.forget(r)
	r.abandon()
	r.mu.Lock()
	r.over = true
	dropped, calls = r.out.End(), r.calls
	r.mu.Unlock()
	r.open.Wait()
	return dropped, calls
}

// reply answers a call.
type reply struct {
	Answer int             `json:"answer"`
	Value  json.RawMessage `json:"value,omitempty"`
	Fault  string          `json:"fault,omitempty"`
}

var (
	errMost = fmt.Errorf("a script may call tools %d times", MostCalls)
	errLong = fmt.Errorf("the arguments are longer than %d bytes", longestCall)
	errOver = errors.New("the script has ended")
)

// call starts to handle a call.
func (r *run) call(w word) {
	if err := r.admit(w); err != nil {
		r.kernel.answer(reply{Answer: w.Call, Fault: err.Error()})
		return
	}
	go func() {
		defer r.open.Done()
		r.handle(w)
	}()
}

// admit counts a call in, or says why it is none.
func (r *run) admit(w word) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over:
		return errOver
	case r.calls == MostCalls:
		return errMost
	case len(w.Arguments) > longestCall:
		return errLong
	}
	r.calls++
	r.open.Add(1)
	return nil
}
