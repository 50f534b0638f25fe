package main

import (
	"fmt"

	"github.com/bailiff-dev/bailiff/internal/audit"
	"github.com/bailiff-dev/bailiff/internal/export"
)

// openLog opens the decision log, and prepares its export if there is to be one.
func (c *core) openLog() (err error) {
	if c.exporter, err = c.openExport(); err != nil {
		return fmt.Errorf("preparing decision_log.export: %w", err)
	}
	c.decisions, err = audit.Open(audit.Config{StateDir: c.cfg.StateDir, Observer: c.metrics, Log: c.log,
		Scrub: c.scrubber.Scrub, Mask: c.mask, Bounds: bounds(c.cfg.DecisionLog), Needed: c.exporter.Needed})
	if err != nil {
		return fmt.Errorf("opening the decision log: %w", err)
	}
	return nil
}

// openExport returns nil if the log is sent nowhere.
func (c *core) openExport() (*export.Exporter, error) {
	to := c.cfg.DecisionLog.Export
	if to.URL == "" {
		return nil, nil
	}
	return export.New(export.Config{StateDir: c.cfg.StateDir, Receiver: to, Observer: c.metrics, Log: c.log})
}
