package app

import (
	"context"
	"fmt"
	"time"
)

// background starts what goes on beside the requests.
func (a *App) background(ctx context.Context) {
	a.enforcer.Probe(ctx)
	a.enforcer.Adopt(ctx)
	a.enforcer.Rejudge(ctx) // the policies may be others than when it was let
	a.serving.Go(func() { a.enforcer.Watch(ctx) })
	a.serving.Go(func() { a.watchPolicies(ctx) })
	if a.shadow != nil {
		a.serving.Go(func() { a.shadow.watch(ctx) })
	}
	if a.source != nil {
		a.serving.Go(func() { a.source.Follow(ctx, a.policies) })
	}
	for _, exporter := range a.exporters.all() {
		a.serving.Go(func() { exporter.Run(ctx, a.decisions.Written) })
	}
	a.serving.Go(func() { a.sweepAlways(ctx) })
	a.serving.Go(func() { a.memory.giveBackAlways(ctx) })
	a.serving.Go(func() { a.rejudge(ctx) })
	a.runFleet(ctx)
	a.runChats(ctx)
	for _, warning := range a.Status(ctx).Warnings {
		a.log.Warn(warning)
	}
}

// watchPolicies reloads them when their files change. If it cannot, /readyz says
// so: changes would go unseen.
func (a *App) watchPolicies(ctx context.Context) {
	if err := a.policies.Watch(ctx); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("watching the policies: %w; changes are not seen any more, restart the sidecar", err)
		a.unwatched.Set(err)
		a.log.Error(err.Error())
	}
}

// rejudge has what is live judged by new policies as they come into force.
func (a *App) rejudge(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.reloaded:
			a.proxy.Rejudge(ctx)
			a.enforcer.Rejudge(ctx)
		}
	}
}

// sweepEvery is how long at most something stays that was left behind.
const sweepEvery = 5 * time.Minute

// sweepAlways removes sandboxes that were left behind, by earlier runs and since, and holds caches within their bounds.
func (a *App) sweepAlways(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if _, err := a.enforcer.Sweep(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("removing what earlier runs left", "error", err)
		}
		if err := a.caches.Tidy(ctx, time.Now()); err != nil && ctx.Err() == nil {
			a.log.Warn("caches of projects are not within their bounds", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
