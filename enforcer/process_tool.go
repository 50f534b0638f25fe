package enforcer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

// attend does what an allowed request wants with the processes of its session. They
// are where they are, so that it takes no sandbox.
func (e *Enforcer) attend(ctx context.Context, g grant) answer {
	start, args := time.Now(), g.located.Args
	a := answer{started: true}
	a.Status, a.Backend = bailiff.Completed, g.Decision.Backend.Name
	if args.Action == "list" {
		for _, p := range e.processes.list(g.located) {
			a.Processes = append(a.Processes, p.state(ctx))
		}
	} else {
		g.process.attend(ctx, g, &a)
	}
	if len(a.Output) > 0 {
		g.news(bailiff.Progress{Output: a.Output})
	}
	a.Duration = time.Since(start)
	return a
}

var errNoProcess = errors.New("no such process")

// addressee is an error if a matter names a process that its session has not.
func (ps *processes) addressee(m *matter) error {
	args := m.located.Args
	if args.Action == "list" || m.process != nil {
		return nil
	}
	if why := ps.epitaph(m.located); why != "" {
		return fmt.Errorf("%w: background process %s is gone: %s", errNoProcess, args.ProcessID, why)
	}
	return fmt.Errorf("%w: the session has no background process %s; one goes with its sandbox, or as the oldest of more than %d that have ended", errNoProcess, args.ProcessID, mostEnded)
}

// attend does what a request wants with this process, and tells how it is then.
func (p *process) attend(ctx context.Context, g grant, a *answer) {
	a.Backend, a.SandboxID, a.ProcessID = p.lease.backend, p.lease.id(), p.id
	if err := p.act(ctx, g, a); err != nil || ctx.Err() != nil {
		a.unattended(ctx, p, err)
	}
	state := p.state(ctx)
	a.Processes = []bailiff.ProcessState{state}
	end, ended := p.ended()
	switch action := g.located.Args.Action; {
	case a.Status == bailiff.Completed && ended:
		a.note(ending(p.id, end))
		if action == "wait" || action == "poll" || action == "log" {
			a.ExitCode = end.ExitCode
		}
	case a.Status == bailiff.Completed && action == "wait":
		a.note("Process " + p.id + " is still running.")
	}
	if ended {
		p.told.Store(true)
	}
}

// ending says how a process ended.
func ending(id string, end ledger.End) string {
	return strings.TrimSpace(fmt.Sprintf("%s has ended: %s, exit code %d. %s", id, end.Status, end.ExitCode, end.Message))
}

var errAction = errors.New("nothing is known of this action")

func (p *process) act(ctx context.Context, g grant, a *answer) error {
	args, most := g.located.Args, timeout(g.located.Args.Timeout, g.Decision.Limits.TimeoutSeconds)
	if args.Action == "wait" {
		p.await(ctx, most)
		most = killTimeout // for reading
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	switch args.Action {
	case "poll", "wait":
		return p.poll(ctx, g.Decision.Limits.OutputBytes, a)
	case "log":
		return p.read(ctx, scrollFrom(0, p.values), g.Decision.Limits.OutputBytes, a)
	case "write":
		return p.write(ctx, g, "")
	case "submit":
		return p.write(ctx, g, "\n")
	case "close":
		return p.job.CloseInput(ctx)
	case "kill":
		return p.killed(ctx)
	}
	return errAction
}

// await returns when the process has ended, the time is over, or the caller is gone.
func (p *process) await(ctx context.Context, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.over:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// poll reads on from where the last poll came to.
func (p *process) poll(ctx context.Context, limit int, a *answer) error {
	if err := p.reader.take(ctx); err != nil {
		return err
	}
	defer p.reader.pass()
	err := p.read(ctx, p.scroll, limit, a)
	if at := p.scroll.told(); p.polled.Swap(at) != at {
		p.lease.leases.changed(p.lease)
	}
	return err
}

var errMuted = errors.New("the sidecar was started anew since, and what a process with variables printed is not shown then")

// read reads on from a place in the log.
func (p *process) read(ctx context.Context, from *scroll, limit int, a *answer) (err error) {
	if p.muted() {
		return errMuted
	}
	a.Output, a.Truncated, err = from.read(ctx, p.job, limit, !p.running())
	return err
}

// killed ends the process on its session's wish, and returns when that is noted.
func (p *process) killed(ctx context.Context) error {
	if err := p.kill(ctx, "Killed by its session, with everything it had started."); err != nil {
		return err
	}
	select {
	case <-p.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unattended words an answer that a process could not give.
func (a *answer) unattended(ctx context.Context, p *process, err error) {
	a.Status, a.Code, a.ExitCode = bailiff.Failed, bailiff.CodeProcess, bailiff.ExitFailed
	a.Message = bailiff.Sentence(fmt.Sprintf("process %s: %v", p.id, err))
	switch {
	case ctx.Err() != nil:
		a.Status, a.Code, a.ExitCode, a.Message = bailiff.Interrupted, "", bailiff.ExitInterrupted, "The caller went away before "+p.id+" answered."
	case errors.Is(err, context.DeadlineExceeded):
		a.Status, a.Code, a.ExitCode, a.Message = bailiff.TimedOut, "", bailiff.ExitTimeout, "The time was over before "+p.id+" took it; a part may have been read."
	case errors.Is(err, errMuted):
	case errors.Is(err, errOvertaken), errors.Is(err, errLongLine):
		a.Status, a.Code = bailiff.Unavailable, bailiff.CodeCommand
	case !p.running():
		a.Message = p.id + " has ended, and takes no input any more."
		if end, ended := p.ended(); ended {
			a.Message = "Nothing can be done to it or read any more: " + ending(p.id, end)
		}
	}
}
