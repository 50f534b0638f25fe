package modal

import (
	"context"
	"errors"
	"time"

	modal "github.com/modal-labs/modal-client/go"

	"github.com/bailiff-dev/bailiff/backends"
)

// endWithin is how long the end of a sandbox may take whose caller may have gone.
const endWithin = time.Minute

// Sweep ends the owner's sandboxes that keep does not want.
func (b *Backend) Sweep(ctx context.Context, owner string, keep func(id string) bool) (int, error) {
	a, err := b.use()
	if err != nil {
		return 0, err
	}
	defer b.leave(a)
	app, err := b.app(ctx, a)
	if err != nil {
		return 0, err
	}
	found, err := a.tagged(ctx, app, tagOwner, backends.Digest(owner))
	if err != nil {
		return 0, err
	}
	swept := 0
	var faults []error
	for _, s := range found {
		done, err := b.sweep(ctx, a, s, keep)
		if done {
			swept++
		}
		faults = append(faults, err)
	}
	return swept, errors.Join(faults...)
}

// sweep ends one sandbox unless it is spared.
func (b *Backend) sweep(ctx context.Context, a *account, s *modal.Sandbox, keep func(id string) bool) (bool, error) {
	asking, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	tags, err := s.GetTags(asking, nil)
	switch {
	case err != nil && isGone(err):
		return false, nil
	case err != nil:
		return false, a.fault(asking, "asking for the tags of sandbox "+s.SandboxID, err)
	case b.opening.Has(tags[tagName]), keep(s.SandboxID):
		return false, nil
	}
	err = a.end(ctx, s.SandboxID)
	return err == nil, err
}

// tagged lists the sandboxes that live and have a tag.
func (a *account) tagged(ctx context.Context, app *modal.App, tag, value string) (list []*modal.Sandbox, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	found, err := a.Sandboxes.List(ctx, &modal.SandboxListParams{AppID: app.AppID, Tags: map[string]string{tag: value}})
	if err != nil {
		return nil, a.fault(ctx, "listing sandboxes", err)
	}
	for s, err := range found {
		if err != nil {
			return nil, a.fault(ctx, "listing sandboxes", err)
		}
		list = append(list, s)
	}
	return list, nil
}

// end ends a sandbox with all that runs in it, and returns when it is over and its
// workspace is where the next machine finds it. One that is gone is no fault.
func (a *account) end(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	machine, err := a.Sandboxes.FromID(ctx, id, nil)
	if err == nil {
		_, err = machine.Terminate(ctx, &modal.SandboxTerminateParams{Wait: true})
	}
	if err != nil && !isGone(err) {
		return a.fault(ctx, "ending sandbox "+id, err)
	}
	return nil
}
