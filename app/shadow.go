package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/judging/replay"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

// shadow has every decision judged by policies that are not in force too.
type shadow struct {
	*replay.Shadow
	policies *pdp.PDP
	log      *slog.Logger
}

// startShadow loads the policies in the shadow, if there are any. Their faults
// are logged and do not keep the sidecar from starting.
func (c *core) startShadow(ctx context.Context) {
	if len(c.cfg.Policies.Shadow) == 0 {
		return
	}
	s := &shadow{log: c.log}
	s.policies = pdp.OnTrial(ctx, pdp.Config{Paths: c.cfg.Policies.Shadow, EvalTimeout: c.cfg.Policies.EvalTimeout, Observer: s})
	s.Shadow = replay.StartShadow(replay.ShadowConfig{
		Trial:    replay.Trial{Policies: s.policies, Floor: offline.Floor(c.cfg)},
		Recorder: c.decisions, Observer: c.metrics, Masked: c.policies.Masks, Log: c.log,
	})
	s.tell()
	c.shadow = s
}

// recorder is where the enforcer writes decisions down.
func (c *core) recorder() enforcer.Recorder {
	if c.shadow == nil {
		return c.decisions
	}
	return c.shadow
}

// Reloaded tells of a reload; not of the first, before there is a shadow.
func (s *shadow) Reloaded(bool, string) {
	if s.Shadow != nil {
		s.tell()
	}
}

// OutOfTime has nothing to tell: nothing is denied by policies in the shadow.
func (s *shadow) OutOfTime() {}

func (s *shadow) tell() {
	for _, warning := range s.warnings() {
		s.log.Warn(warning)
	}
	if p := s.policies.Status(); p.OK {
		s.log.Info("shadow policies are judged by beside those in force", "revision", p.Revision)
	}
}

// watch follows the files of the policies in the shadow.
func (s *shadow) watch(ctx context.Context) {
	if err := s.policies.Watch(ctx); err != nil && ctx.Err() == nil {
		s.log.Error("changes of the shadow policies are not seen any more, restart the sidecar", "error", err)
	}
}

// warnings say that the policies in the shadow are not those in their files.
func (s *shadow) warnings() []string {
	p := s.policies.Status()
	if p.OK {
		return nil
	}
	since := "nothing is judged by them"
	if p.Revision != "" {
		since = fmt.Sprintf("judged is by %.12s still", p.Revision)
	}
	return []string{fmt.Sprintf("the shadow policies have faults, %s: %s", since, p.Faults[0])}
}
