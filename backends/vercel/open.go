package vercel

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/carrier"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// cleanUp is how long the removal of a machine may take whose user has gone.
const cleanUp = 30 * time.Second

// Open makes a machine, brings the runner there, and waits until it answers.
func (b *Backend) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	if err := b.check(spec); err != nil {
		return nil, err
	}
	name, done := b.opening.Name(ofOwner(spec.Owner))
	defer done()
	opened, err := b.open(ctx, name, spec)
	if err != nil {
		b.discard(ctx, name)
		return nil, err
	}
	return opened, nil
}

// discard removes a machine that is not needed any more, also for a caller who has
// gone; by name, since Vercel may have made it and not come to say so.
func (b *Backend) discard(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	if err := b.api.remove(ctx, name); err != nil {
		b.cfg.Log.WarnContext(ctx, "a machine at Vercel is left to the next sweep, and ends by itself", "machine", name, "error", err)
	}
}

func (b *Backend) open(ctx context.Context, name string, spec backends.Spec) (*sandbox, error) {
	drive, err := b.bringDrive(ctx, spec)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	s := &sandbox{backend: b, name: name, ends: spec.Ends(now, longest)}
	life := min(b.lease, s.ends.Sub(now))
	s.until = now.Add(life)
	if s.machine, err = b.lend(ctx, b.order(name, spec, life, drive)); err != nil {
		return nil, err
	}
	if err := s.start(ctx, spec); err != nil {
		return nil, err
	}
	go s.hold()
	return s, nil
}

// lend has a machine made, waits until it runs, and sees to it that it is what was
// asked for.
func (b *Backend) lend(ctx context.Context, w wanted) (id string, err error) {
	backends.Step(ctx, "starting a machine at Vercel")
	m, err := b.api.create(ctx, w)
	if err != nil {
		return "", unavailable("making a machine at Vercel", err)
	}
	if m.Session, err = b.running(ctx, m.Session); err != nil {
		return "", err
	}
	return m.Session.ID, verify(w, m)
}

// running waits until a machine runs.
func (b *Backend) running(ctx context.Context, m session) (session, error) {
	for pause := 50 * time.Millisecond; m.Status == "pending"; pause = min(2*pause, time.Second) {
		if err := httpapi.Wait(ctx, pause); err != nil {
			return m, fmt.Errorf("waiting for a machine at Vercel: %w", err)
		}
		next, err := b.api.session(ctx, m.ID)
		if err != nil {
			return m, unavailable("waiting for a machine at Vercel", err)
		}
		m = next
	}
	if m.Status != "running" {
		return m, fmt.Errorf("%w: the machine at Vercel is %s", backends.ErrUnavailable, m.Status)
	}
	return m, nil
}

// Where the runner is brought, by the machine's default user, and where it is then.
const (
	broughtPath = "/tmp/bailiff-runner"
	runnerPath  = "/.bailiff/runner"
	inputPath   = "/.bailiff/input"
)

// install puts the runner where it cannot be read, and makes a folder for what it is
// told: a user that may write files in the machine may write there, and commands are not
// that user. Then it starts the runner. A machine has one life, so nothing is there.
const install = `set -e
umask 022
mkdir -m 0711 /.bailiff
cp "$1" ` + runnerPath + `
chmod 0111 ` + runnerPath + `
mkdir -m 0700 ` + inputPath + `
chown "$(stat -c %u:%g "$1")" ` + inputPath + `
rm "$1"
shift
exec ` + runnerPath + ` "$@"`

// start brings the runner into the machine, starts it and greets it.
func (s *sandbox) start(ctx context.Context, spec backends.Spec) error {
	if err := s.bring(ctx); err != nil {
		return err
	}
	argv := append([]string{"-c", install, "sh", broughtPath, wire.InputFiles, inputPath, wire.Text}, runner.IsolateArguments(spec)...)
	command, err := s.backend.api.run(ctx, s.machine, "/bin/sh", argv...)
	if err != nil {
		return unavailable("starting the runner at Vercel", err)
	}
	line, err := s.follow(ctx, command)
	if err != nil {
		return unavailable("following the runner at Vercel", err)
	}
	return s.greet(ctx, line, spec)
}

func (s *sandbox) bring(ctx context.Context) error {
	program, err := os.ReadFile(s.backend.cfg.Runner)
	if err != nil {
		return fmt.Errorf("%w: reading the runner: %w", backends.ErrUnavailable, err)
	}
	backends.Step(ctx, "bringing the runner to the machine at Vercel")
	if err := s.backend.api.write(ctx, s.machine, broughtPath, 0o600, program); err != nil {
		return unavailable("bringing the runner to a machine at Vercel", err)
	}
	return nil
}

// greet waits until the runner answers; the line is closed if it does not.
func (s *sandbox) greet(ctx context.Context, l *line, spec backends.Spec) (err error) {
	if s.Client, err = runner.Attach(ctx, carrier.Text(l), runner.PlaceOf(spec, runner.Linger)); err != nil {
		return fmt.Errorf("%w: greeting the runner at Vercel: %w%s", backends.ErrUnavailable, err, l.words())
	}
	return nil
}
