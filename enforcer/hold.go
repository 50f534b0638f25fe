package enforcer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
	"github.com/bailiff-dev/bailiff/internal/secrets/swap"
)

// holding is the sandbox that a request holds.
type holding struct {
	// held and env are set while the sandbox is held.
	held *lease.Hold
	env  map[string]bailiff.Secret
	// looksOnly says that it is held for a look, without the variables.
	looksOnly bool
	// swapped are those of env that are stand-ins, with their values.
	swapped []bailiff.Swapped
}

// hold takes the sandbox of a request, unless it is held already. With alone,
// nothing else is alive in it until it is released; a request that gets variables
// is always alone, but for those that are swapped and say otherwise.
func (e *Enforcer) hold(ctx context.Context, m *judged, alone bool) (err error) {
	if m.looksOnly {
		m.release()
	}
	if m.held != nil || !m.needsSandbox() {
		return nil
	}
	if m.env, m.swapped, err = e.values(m.located, m.Decision.Env); err != nil {
		return err
	}
	for try := 1; ; try++ {
		if err = e.holdNow(ctx, m, alone || m.mustBeAlone()); try == mostOvertaken || !errors.Is(err, supply.ErrOvertaken) {
			break
		}
	}
	if err == nil && m.reloads != e.reloads.Load() {
		m.held.Lease().Review(ctx)
	}
	return err
}

// values reads the variables that the decision lets in, and makes stand-ins for those that
// are swapped on the way out.
func (e *Enforcer) values(req bailiff.Request, terms bailiff.EnvTerms) (
	values map[string]bailiff.Secret, swapped []bailiff.Swapped, err error,
) {
	values = make(map[string]bailiff.Secret, len(terms.Forward))
	for _, name := range terms.Forward {
		value, ok := bailiff.Secret{}, false
		if slices.Contains(terms.FromUser, name) {
			value, ok = e.config.People.Value(req, name)
		} else {
			value, ok = e.config.Environ.Value(name)
		}
		if !ok {
			return nil, nil, fmt.Errorf("%w: reading %s: no source holds it any more; ask again without it", errVariable, name)
		}
		values[name] = value
	}
	for _, one := range terms.Swap {
		standIn, err := swap.StandIn(values[one.Name].Reveal())
		if err != nil {
			return nil, nil, fmt.Errorf("%w: making a stand-in for %s: %w", errVariable, one.Name, err)
		}
		swapped = append(swapped, bailiff.Swapped{Swap: one, StandIn: standIn, Value: values[one.Name]})
		values[one.Name] = bailiff.NewSecret(standIn)
	}
	return values, swapped, nil
}

// mostOvertaken is how often a sandbox is made for a request while other programs make and remove
// protected folders of its project, as the agents' own sandboxes do.
const mostOvertaken = 3

// holdNow takes the sandbox that shows the folders of a decision as they are now.
func (e *Enforcer) holdNow(ctx context.Context, m *judged, alone bool) (err error) {
	spec := e.leases.SpecOf(m.located, m.Decision)
	if alone {
		spec = spec.Exclusive()
	}
	if m.held, err = m.script.Share(spec); m.held == nil && err == nil {
		err = e.parts.acquire(ctx, m, func(ctx context.Context) (*lease.Hold, error) { return e.leases.Acquire(ctx, spec) })
	}
	return err
}

// mustBeAlone says whether a variable that the request gets is one that others may not be near.
func (m *judged) mustBeAlone() bool {
	near := func(name string) bool {
		return slices.ContainsFunc(m.Decision.Env.Swap, func(s bailiff.Swap) bool { return s.Name == name && s.NotAlone })
	}
	return slices.ContainsFunc(m.Decision.Env.Forward, func(name string) bool { return !near(name) })
}

// acquire gives a request the sandbox that it waits for.
func (*Enforcer) acquire(ctx context.Context, m *judged, wait func(context.Context) (*lease.Hold, error)) (err error) {
	m.held, err = wait(ctx)
	return err
}

// replace moves a grant whose sandbox failed before its command was started to
// another one on the same files, so that a sandbox that was lost costs no request.
// What was approved must still be what runs there.
func (e *Enforcer) replace(ctx context.Context, g grant) error {
	failed := g.held
	g.held = nil
	err := e.parts.acquire(ctx, g.judged, func(ctx context.Context) (*lease.Hold, error) {
		return e.leases.Replace(ctx, failed, e.leases.SpecOf(g.located, g.Decision))
	})
	if err != nil || len(g.files) == 0 {
		return err
	}
	files, err := g.held.Digest(ctx, g.located.Args.Workdir, g.Files)
	if err != nil {
		return fmt.Errorf("%w: reading those that the command runs: %w", errFiles, err)
	}
	if !slices.Equal(files, g.files) {
		return fmt.Errorf("%w: the sandbox was lost, and with it files that the command runs; send it again", errFiles)
	}
	return nil
}

// release gives the sandbox back.
func (h *holding) release() {
	if h.held != nil {
		h.held.Release()
	}
	*h = holding{}
}
