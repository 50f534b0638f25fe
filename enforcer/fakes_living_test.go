package enforcer

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff/backends"
)

func (r *fakeSandbox) Start(_ context.Context, cmd backends.Command, tag string) (backends.Process, error) {
	if r.fakeBackend.full {
		return nil, fmt.Errorf("%w: %w", backends.ErrNotStarted, backends.ErrFull)
	}
	j := &job{tag: tag, cmd: cmd, fakeSandbox: r, done: make(chan struct{}), input: make(chan []byte, 100)}
	if r.fakeBackend.starting != nil {
		r.fakeBackend.starting()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs = append(r.jobs, j)
	return j, nil
}

func (r *fakeSandbox) Processes(context.Context) (all []backends.Process, err error) {
	for _, j := range r.living() {
		all = append(all, j)
	}
	return all, nil
}

func (r *fakeSandbox) living() []*job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.jobs)
}

// job is a background command of a sandbox, which does what a test has it do.
type job struct {
	tag         string
	cmd         backends.Command
	fakeSandbox *fakeSandbox
	done        chan struct{}
	input       chan []byte

	mu     sync.Mutex
	log    []byte
	lost   int // bytes of the log's beginning that it no longer holds
	closed bool
	exit   backends.Exit
	over   bool
	fault  error // of reading the log
}

func (j *job) Tag() string           { return j.tag }
func (j *job) Done() <-chan struct{} { return j.done }

func (j *job) Exit() backends.Exit {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.exit
}

func (j *job) Write(ctx context.Context, data []byte) error {
	j.mu.Lock()
	closed := j.closed || j.over
	j.mu.Unlock()
	if closed {
		return errBoom
	}
	select {
	case j.input <- bytes.Clone(data):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *job) CloseInput(context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	return nil
}

func (j *job) Log(_ context.Context, offset int64, most int) (backends.Piece, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fault != nil && most > 0 {
		return backends.Piece{}, j.fault
	}
	from := max(int(offset), j.lost)
	to := max(from, min(from+most, len(j.log)))
	return backends.Piece{From: int64(from), Data: bytes.Clone(j.log[min(from, len(j.log)):min(to, len(j.log))]),
		Written: int64(len(j.log))}, nil
}

func (j *job) Kill(context.Context) error {
	j.ends(backends.Exit{Code: 137, Interrupted: true})
	return nil
}

func (j *job) Forget(context.Context) error {
	j.fakeSandbox.mu.Lock()
	defer j.fakeSandbox.mu.Unlock()
	j.fakeSandbox.jobs = slices.DeleteFunc(j.fakeSandbox.jobs, func(other *job) bool { return other == j })
	return nil
}

// prints adds to the job's log.
func (j *job) prints(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.log = append(j.log, text...)
}

// ends is the job's end, the first time.
func (j *job) ends(exit backends.Exit) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.over {
		j.over, j.exit = true, exit
		close(j.done)
	}
}
