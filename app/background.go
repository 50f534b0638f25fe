package app

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// background starts what goes on beside the requests.
func (s *App) background(ctx context.Context) {
	s.enforcer.Probe(ctx)
	s.enforcer.Adopt(ctx)
	s.enforcer.Rejudge(ctx) // the policies may be others than when it was let
	s.serving.Go(func() { s.enforcer.Watch(ctx) })
	s.serving.Go(func() { s.watchPolicies(ctx) })
	if s.shadow != nil {
		s.serving.Go(func() { s.shadow.watch(ctx) })
	}
	if s.source != nil {
		s.serving.Go(func() { s.source.Follow(ctx, s.policies) })
	}
	s.serving.Go(func() { s.exporter.Run(ctx, s.decisions.Written) })
	s.serving.Go(func() { s.sweepAlways(ctx) })
	s.serving.Go(func() { s.rejudge(ctx) })
	s.runChats(ctx)
	for _, warning := range s.Status(ctx).Warnings {
		s.log.Warn(warning)
	}
}

// watchPolicies reloads them when their files change. If it cannot, /readyz says
// so: changes would go unseen.
func (s *App) watchPolicies(ctx context.Context) {
	if err := s.policies.Watch(ctx); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("watching the policies: %w; changes are not seen any more, restart the sidecar", err)
		s.unwatched.Set(err)
		s.log.Error(err.Error())
	}
}

// rejudge has what is live judged by new policies as they come into force.
func (s *App) rejudge(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.reloaded:
			s.enforcer.Rejudge(ctx)
		}
	}
}

// sweepEvery is how long at most something stays that was left behind.
const sweepEvery = 5 * time.Minute

// sweepAlways removes sandboxes that were left behind, by earlier runs and since,
// and gives back memory that nothing uses any more.
func (s *App) sweepAlways(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if _, err := s.enforcer.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("removing what earlier runs left", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			debug.FreeOSMemory() // what busy minutes took
		}
	}
}
