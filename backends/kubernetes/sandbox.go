package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// longestRemoval is how long a cluster may take to remove a pod.
const longestRemoval = time.Minute

// overdue is how far clocks may be apart.
const overdue = 10 * time.Minute

// sandbox is a running pod and the client of its runner.
type sandbox struct {
	*runner.Client
	backend *Backend
	id      string
}

// attach speaks to the runner of a pod through its door.
func (b *Backend) attach(ctx context.Context, name string, spec backends.Spec) (*sandbox, error) {
	words := &runner.Words{Log: b.cfg.Log.With("sandbox", name)}
	conn, err := b.enter(ctx, name, words)
	if err != nil {
		return nil, err
	}
	place := runner.PlaceOf(spec, b.linger)
	place.Epoch, place.Names = b.cfg.Epoch(), true
	client, err := runner.Attach(ctx, conn, place)
	if err != nil {
		if said := words.String(); said != "" {
			err = fmt.Errorf("%w; the door said %q", err, said)
		}
		return nil, fmt.Errorf("%w: greeting the sandbox: %w", backends.ErrUnavailable, err)
	}
	return &sandbox{client, b, name}, nil
}

// ID is the pod's name.
func (s *sandbox) ID() string { return s.id }

// Close removes the pod, unless a later run of the sidecar has it, or may have it.
func (s *sandbox) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRemoval)
	defer cancel()
	err := s.CheckLatest(ctx)
	if err != nil && !errors.Is(err, backends.ErrSuperseded) {
		unsaid := err
		if err = s.backend.cfg.CheckOwner(); err != nil {
			err = fmt.Errorf("%w: its runner does not say it (%w), and %w", backends.ErrOwnerUnknown, unsaid, err)
		}
	}
	_ = s.Client.Close() // always nil
	if err != nil {
		return fmt.Errorf("removing sandbox %s: %w", s.id, err)
	}
	return s.backend.remove(ctx, s.id)
}

// remove removes a pod and waits until all in it has ended. One that is gone is no fault.
func (b *Backend) remove(ctx context.Context, name string) error {
	if err := b.connect(); err != nil {
		return err
	}
	err := b.ask(ctx, http.MethodDelete, "pods/"+url.PathEscape(name), nil, nil, nil)
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	if err == nil {
		err = b.watch(ctx, name, func(_ pod, gone bool) (bool, error) { return gone, nil })
	}
	if err != nil {
		return fmt.Errorf("removing sandbox %s: %w", name, err)
	}
	return nil
}

// Sweep removes the owner's pods that keep does not want, and those of other owners that have ended past their time.
func (b *Backend) Sweep(ctx context.Context, owner string, keep func(id string) bool) (int, error) {
	if err := errors.Join(b.connect(), b.cfg.CheckOwner()); err != nil {
		return 0, err
	}
	var found struct{ Items []pod }
	if err := b.ask(ctx, http.MethodGet, "pods", url.Values{"labelSelector": {ofOwner}}, nil, &found); err != nil {
		return 0, fmt.Errorf("listing sandboxes: %w", err)
	}
	removed := 0
	var faults []error
	for _, p := range found.Items {
		own := p.Metadata.Labels[ofOwner] == backends.Digest(owner)
		if !own && !p.isAbandoned(time.Now()) || b.opening.Has(p.Metadata.Name) || keep(p.Metadata.Name) {
			continue
		}
		if err := b.removeInTime(ctx, p.Metadata.Name); err != nil {
			faults = append(faults, err)
			continue
		}
		removed++
	}
	return removed, errors.Join(faults...)
}

// removeInTime removes a pod, or gives it up that stays, so that a sweep comes to the others.
func (b *Backend) removeInTime(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, longestRemoval)
	defer cancel()
	return b.remove(ctx, name)
}

// isAbandoned says whether a pod has ended and is past its time.
func (p pod) isAbandoned(now time.Time) bool {
	ended := p.Status.Phase == "Failed" || p.Status.Phase == "Succeeded"
	expires, err := time.Parse(time.RFC3339, p.Metadata.Annotations[expiresAt])
	if err != nil {
		expires = p.Metadata.CreationTimestamp.Add(longest)
	}
	return ended && now.Sub(expires) > overdue
}
