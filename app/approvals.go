package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval"
)

// openApprovals opens what remembers approvals, grants and freezes.
func (c *core) openApprovals() error {
	if err := c.roster.follow(c.cfg); err != nil {
		return err
	}
	caps := c.cfg.Limits.PendingApprovals
	var err error
	c.approvals, err = approval.Open(approval.Config{
		Path: filepath.Join(c.cfg.StateDir, "approvals.db"), Router: &c.roster, Recorder: c.decisions, Observer: c.metrics,
		Reachable: c.roster.reachable, Caps: approval.Caps(caps), Scrub: c.scrubber.Scrub, Log: c.log,
	})
	if err != nil {
		return fmt.Errorf("opening the approvals: %w", err)
	}
	return nil
}

// enforcerApprovals are the approvals as the enforcer needs them.
type enforcerApprovals struct{ *approval.Book }

// Void counts it as done where nothing is left to take back, since one of several
// identical requests that waited was faster.
func (a enforcerApprovals) Void(ctx context.Context, id, reason string) error {
	err := a.Book.Void(ctx, id, reason)
	if errors.Is(err, api.ErrSettled) || errors.Is(err, api.ErrUnknown) {
		return nil
	}
	return err
}
