package lease

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/semaphore"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// exclusive is the whole weight of a lease's gate; a request without
// variables takes one.
const exclusive = 1 << 20

// Hold is one request's use of a sandbox.
type Hold struct {
	lease   *Lease
	session bailiff.Session // of the request
	peer    string          // by which that came in
	weight  int64
	// replaced says that the sandbox is there because the one before failed.
	replaced bool
	// stopped counts the processes of earlier commands that were killed so that
	// this request is alone.
	stopped int
	// sharing says that it is a call's of the script whose lease it is.
	sharing bool
	// guarded has what a command left behind end with it.
	guarded bool
}

// ID is that of the sandbox.
func (h *Hold) ID() string { return h.lease.sandbox.ID() }

// Lease is what the hold is on.
func (h *Hold) Lease() *Lease { return h.lease }

// IsReplacement says that the sandbox is there because the one before failed.
func (h *Hold) IsReplacement() bool { return h.replaced }

// KillCount counts the processes of earlier commands that were killed so that the hold is
// alone.
func (h *Hold) KillCount() int { return h.stopped }

// IsShared says that it is a call's of the script whose sandbox it is.
func (h *Hold) IsShared() bool { return h.sharing }

// Digest reads files in the sandbox.
func (h *Hold) Digest(ctx context.Context, workdir string, paths []string) ([]bailiff.File, error) {
	return h.lease.sandbox.Digest(ctx, workdir, paths)
}

// Read reads a file of the sandbox, of at most so many bytes.
func (h *Hold) Read(ctx context.Context, workdir, path string, most int) (bailiff.Content, error) {
	reader, ok := h.lease.sandbox.(backends.Reader)
	if !ok {
		return bailiff.Content{}, fmt.Errorf("reading %s in the sandbox: %w", path, errors.ErrUnsupported)
	}
	return reader.Read(ctx, workdir, path, most)
}

// Match finds the young files of the sandbox that match a pattern.
func (h *Hold) Match(ctx context.Context, workdir, pattern string, stems []string) (paths []string, all bool, err error) {
	reader, ok := h.lease.sandbox.(backends.Reader)
	if !ok {
		return nil, false, fmt.Errorf("looking for %s in the sandbox: %w", pattern, errors.ErrUnsupported)
	}
	return reader.Match(ctx, workdir, pattern, stems)
}

// Run runs a command in the sandbox.
func (h *Hold) Run(ctx context.Context, cmd backends.Command, out func([]byte)) (backends.Exit, error) {
	if err := h.MayStart(ctx); err != nil {
		return backends.Exit{}, err
	}
	cmd.Reap = h.weight == exclusive || h.guarded
	return h.lease.sandbox.Run(ctx, cmd, out)
}

// Start starts a command that outlives the hold, under a tag.
func (h *Hold) Start(ctx context.Context, cmd backends.Command, tag string) (backends.Process, error) {
	if err := h.MayStart(ctx); err != nil {
		return nil, err
	}
	cmd.Reap = h.weight == exclusive || h.guarded
	return h.lease.sandbox.Start(ctx, cmd, tag)
}

// Converse starts a command that talks with its caller, as [backends.Sandbox] says.
func (h *Hold) Converse(ctx context.Context, cmd backends.Command, hear backends.Listener) (backends.Dialogue, error) {
	if err := h.MayStart(ctx); err != nil {
		return nil, err
	}
	cmd.Reap = true
	return h.lease.sandbox.Converse(ctx, cmd, hear)
}

// RememberWorkdir remembers where the session's command ended; a path that is no folder's forgets
// it.
func (h *Hold) RememberWorkdir(path string, inWorkspace bool) {
	h.lease.pool.moved(h.lease, h.lease.caller, h.session.ID, path, inWorkspace)
}

// begin waits until a hold that was counted in may begin.
func (h *Hold) begin(ctx context.Context, alone bool) (*Hold, error) {
	if alone {
		h.weight = exclusive
	}
	ctx, stop := h.Within(ctx)
	defer stop()
	if err := h.enter(ctx, alone); err != nil {
		err = h.explain(ctx, err)
		h.lease.pool.leave(h.lease)
		return nil, err
	}
	h.lease.pool.save(h.lease)
	return h, nil
}

// explain says what kept a hold from beginning: that the sandbox was taken away or
// failed meanwhile, if so.
func (h *Hold) explain(ctx context.Context, err error) error {
	switch {
	case IsEvicted(ctx):
		return context.Cause(ctx)
	case h.lease.ID() != "" && !h.lease.Alive():
		return fmt.Errorf("%w: %w", errFailed, err)
	}
	return err
}

var errFailed = errors.New("the sandbox failed")

// enter waits for the sandbox and for the others in it.
func (h *Hold) enter(ctx context.Context, alone bool) error {
	if err := h.lease.await(ctx); err != nil {
		return err
	}
	if err := h.lease.pool.remember(h.lease); err != nil { // not sooner: the removal of its files before is done
		return err
	}
	if err := h.lease.gate.Acquire(ctx, h.weight); err != nil {
		return err
	}
	err := ctx.Err() // of a sandbox that was taken away, the gate is open
	if err == nil {
		err = h.checkResidents(alone)
	}
	if err == nil && alone {
		err = h.endOthers(ctx)
	}
	if err != nil {
		h.lease.gate.Release(h.weight)
	}
	return err
}

// endOthers ends what earlier commands left running, in this sandbox and in any
// other that stands on the same files; no request is in one of these.
func (h *Hold) endOthers(ctx context.Context) error {
	for _, other := range h.lease.others() {
		if err := h.endIn(ctx, other); err != nil {
			return fmt.Errorf("stopping what stands on the same files: %w", err)
		}
	}
	if err := h.lease.endKernels(ctx); err != nil {
		return fmt.Errorf("ending interpreters of earlier scripts: %w", err)
	}
	left, err := h.lease.sandbox.Alive(ctx)
	if err != nil {
		return fmt.Errorf("looking for processes of earlier commands: %w", err)
	}
	if left == 0 {
		return nil
	}
	h.stopped = left
	if err := h.lease.sandbox.Kill(ctx); err != nil {
		return fmt.Errorf("stopping processes of earlier commands: %w", err)
	}
	return nil
}

// endIn waits for the end of another sandbox that is on its way out, and ends what
// is left in one that is not.
func (h *Hold) endIn(ctx context.Context, other *Lease) error {
	ready := other.ready
	if other.IsLeaving() {
		other.vacateEnded()
		ready = other.gone
	}
	select {
	case <-ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if other.ID() == "" || other.IsLeaving() {
		return nil
	}
	if err := other.endKernels(ctx); err != nil {
		return err
	}
	return other.sandbox.Kill(ctx)
}

// Release ends the hold.
func (h *Hold) Release() {
	if h.sharing {
		return
	}
	h.lease.gate.Release(h.weight)
	h.lease.pool.leave(h.lease)
}

// gateLocked is the gate of a spec's workspace: a hold that is alone in a sandbox is
// alone on its files too, with every other sandbox that still uses them.
func (p *Pool) gateLocked(t Spec) *semaphore.Weighted {
	for l := range p.all {
		if l.sharesFiles(t) && l.gate != nil {
			return l.gate
		}
	}
	return semaphore.NewWeighted(exclusive)
}

// others are the leases that stand on the same files.
func (l *Lease) others() []*Lease {
	return l.pool.leases(func(other *Lease) bool { return other != l && other.sharesFiles(l.Spec) })
}

// IsLeaving says whether the lease is closed as soon as no request uses it.
func (l *Lease) IsLeaving() bool {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	return l.retired != ""
}

// WhyGone says why the sandbox is closed, or is being; empty while it stays.
func (l *Lease) WhyGone() string {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	switch {
	case !l.removed:
		return ""
	case l.evicted != "":
		return l.evicted.Error() + "."
	case l.retired == reasonFailed:
		return SandboxFailed
	}
	return "Its sandbox was removed."
}

// SandboxFailed is the reason of [Lease.WhyGone] that is the sandbox's own fault.
const SandboxFailed = "Its sandbox failed."

// ErrBeside keeps a script's call out of the script's sandbox.
var ErrBeside = errors.New("call of a script")

// Share returns the hold of a call on the sandbox of its script, which holds the gate
// for both; nil if the call is for another sandbox, on other files, or no script
// called. It never waits for the script, which waits for it.
func (h *Hold) Share(t Spec) (*Hold, error) {
	if h == nil {
		return nil, nil
	}
	h.lease.pool.mu.Lock()
	defer h.lease.pool.mu.Unlock()
	fits := h.lease.fitsLocked(t)
	switch {
	case h.lease.slot != t.slot && !(h.lease.alone && t.alone && fits):
		return nil, nil
	case t.exclusive:
		return nil, fmt.Errorf("%w: the command must be alone in its sandbox, which the script is in; run it outside of a script",
			ErrBeside)
	case !fits:
		return nil, fmt.Errorf("%w: the policies want another sandbox for the command than for the script; run it outside of a script",
			ErrBeside)
	}
	return &Hold{lease: h.lease, session: h.session, peer: h.peer, weight: 1, sharing: true, guarded: t.guarded}, nil
}
