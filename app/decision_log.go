package app

import (
	"context"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/audit"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/export"
)

// openLog opens the decision log, and prepares its export if there is to be one.
func (c *core) openLog() (err error) {
	if c.exporter, err = c.openExport(); err != nil {
		return fmt.Errorf("preparing decision_log.export: %w", err)
	}
	c.decisions, err = audit.Open(audit.Config{StateDir: c.cfg.StateDir, Observer: c.metrics, Log: c.log,
		Scrub: c.scrubber.Scrub, Mask: c.mask, Bounds: bounds(c.cfg.DecisionLog), Needed: c.exporter.Needed})
	return err
}

// openExport returns nil if the log is sent nowhere.
func (c *core) openExport() (*export.Exporter, error) {
	to := c.cfg.DecisionLog.Export
	if to.URL == "" {
		return nil, nil
	}
	return export.New(export.Config{StateDir: c.cfg.StateDir, Receiver: to, Observer: c.metrics, Log: c.log})
}

// mask asks the policies, which are there before any request has an event.
func (c *core) mask(ctx context.Context, event []byte) (mask any, defined bool, err error) {
	return c.policies.Mask(ctx, event)
}

// bounds are those of the decision log, in its own terms.
func bounds(d config.DecisionLog) audit.Bounds {
	const day = 24 * time.Hour
	return audit.Bounds{
		SegmentBytes: int64(d.Rotate.Megabytes) << 20, SegmentAge: time.Duration(d.Rotate.Hours) * time.Hour,
		KeepFor: time.Duration(d.Retain.Days) * day, KeepBytes: int64(d.Retain.Megabytes) << 20,
	}
}

func unfinished(log *audit.Log) []enforcer.Unfinished {
	var list []enforcer.Unfinished
	for _, u := range log.Unfinished(time.Time{}) {
		list = append(list, enforcer.Unfinished(u))
	}
	return list
}
