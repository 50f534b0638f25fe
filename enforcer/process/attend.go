package process

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/output"
)

// Task is what a request wants with a process, as it was judged.
type Task struct {
	Request bailiff.Request
	// Plain says that its input leaves the process known by what started it; Begun is how
	// much of the data had been typed before.
	Plain bool
	Begun int
	// Timeout bounds it, OutputBytes what it reads.
	Timeout     time.Duration
	OutputBytes int
}

// States are those of the processes of a request's session, the oldest first.
func (t *Table) States(ctx context.Context, req bailiff.Request) (all []bailiff.ProcessState) {
	for _, p := range t.list(req) {
		all = append(all, p.State(ctx))
	}
	return all
}

// ErrUnknown keeps out a request for a process that its session has not.
var ErrUnknown = errors.New("no such process")

// Missing says why a session has no process that a request names, and that its session
// was told.
func (t *Table) Missing(req bailiff.Request) error {
	if why := t.lossMessage(req); why != "" {
		return fmt.Errorf("%w: background process %s is gone: %s", ErrUnknown, req.Args.ProcessID, why)
	}
	return fmt.Errorf("%w: the session has no background process %s; one goes with its sandbox, or as the oldest of more than %d that "+
		"have ended",
		ErrUnknown, req.Args.ProcessID, mostEnded)
}

// Attend does what a request wants with this process, and tells how it is then.
func (p *Process) Attend(ctx context.Context, t Task) bailiff.Answer {
	a := bailiff.Answer{Status: bailiff.Completed, Backend: p.lease.Backend(), SandboxID: p.lease.ID(), ProcessID: p.id}
	if err := p.act(ctx, t, &a); err != nil || ctx.Err() != nil {
		p.fail(ctx, &a, err)
	}
	a.Processes = []bailiff.ProcessState{p.State(ctx)}
	end, ended := p.ended()
	switch action := t.Request.Args.Action; {
	case a.Status == bailiff.Completed && ended:
		a.Message = ending(p.id, end)
		if action == "wait" || action == "poll" || action == "log" {
			a.ExitCode = end.ExitCode
		}
	case a.Status == bailiff.Completed && action == "wait":
		a.Message = "Process " + p.id + " is still running."
	}
	if ended {
		p.told.Store(true)
	}
	if p.way != nil {
		p.way.Tell(&a)
	}
	return a
}

// ending says how a process ended.
func ending(id string, end ledger.End) string {
	return strings.TrimSpace(fmt.Sprintf("%s has ended: %s, exit code %d. %s", id, end.Status, end.ExitCode, end.Message))
}

var errAction = errors.New("nothing is known of this action")

func (p *Process) act(ctx context.Context, t Task, a *bailiff.Answer) error {
	args, most := t.Request.Args, t.Timeout
	if args.Action == "wait" {
		p.await(ctx, most)
		most = KillTimeout // for reading
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	switch args.Action {
	case "poll", "wait":
		return p.poll(ctx, t.OutputBytes, a)
	case "log":
		return p.read(ctx, output.NewLog(0, p.values), t.OutputBytes, a)
	case "write":
		return p.write(ctx, t, "")
	case "submit":
		return p.write(ctx, t, "\n")
	case "close":
		return p.job.CloseInput(ctx)
	case "kill":
		return p.killed(ctx)
	}
	return errAction
}

// await returns when the process has ended, the time is over, or the caller is gone.
func (p *Process) await(ctx context.Context, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.over:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// poll reads on from where the last poll came to.
func (p *Process) poll(ctx context.Context, limit int, a *bailiff.Answer) error {
	if err := p.reader.Take(ctx); err != nil {
		return err
	}
	defer p.reader.Pass()
	err := p.read(ctx, p.log, limit, a)
	if at := p.log.Offset(); p.polled.Swap(at) != at {
		p.lease.Changed()
	}
	return err
}

var errMuted = errors.New("the sidecar was started anew since, and what a process with variables printed is not shown then")

// read reads on from a place in the log.
func (p *Process) read(ctx context.Context, from *output.Log, limit int, a *bailiff.Answer) (err error) {
	if p.muted() {
		return errMuted
	}
	a.Output, a.Truncated, err = from.Read(ctx, p.job, limit, !p.Running())
	return err
}

// killed ends the process on its session's wish, and returns when that is noted.
func (p *Process) killed(ctx context.Context) error {
	if err := p.Kill(ctx, "Killed by its session, with everything it had started."); err != nil {
		return err
	}
	select {
	case <-p.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fail words an answer that the process could not give.
func (p *Process) fail(ctx context.Context, a *bailiff.Answer, err error) {
	a.Status, a.Code, a.ExitCode = bailiff.Failed, bailiff.CodeProcess, bailiff.ExitFailed
	a.Message = bailiff.Sentence(fmt.Sprintf("process %s: %v", p.id, err))
	switch {
	case ctx.Err() != nil:
		a.Status, a.Code, a.ExitCode, a.Message = bailiff.Interrupted, "", bailiff.ExitInterrupted,
			"The caller went away before "+p.id+" answered."
	case errors.Is(err, context.DeadlineExceeded):
		a.Status, a.Code, a.ExitCode, a.Message = bailiff.TimedOut, "", bailiff.ExitTimeout,
			"The time was over before "+p.id+" took it; a part may have been read."
	case errors.Is(err, lease.ErrElsewhere):
		a.Status, a.Code = bailiff.Unavailable, bailiff.CodeHome
	case errors.Is(err, errMuted):
	case errors.Is(err, errOvertaken), errors.Is(err, errLongLine):
		a.Status, a.Code = bailiff.Unavailable, bailiff.CodeCommand
	case !p.Running():
		a.Message = p.id + " has ended, and takes no input any more."
		if end, ended := p.ended(); ended {
			a.Message = "Nothing can be done to it or read any more: " + ending(p.id, end)
		}
	}
}
