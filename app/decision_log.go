package app

import (
	"context"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff/enforcer/answers"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/record/export"
	"github.com/bailiff-dev/bailiff/internal/record/ocsf"
	"github.com/bailiff-dev/bailiff/internal/record/syslog"
)

// openLog opens the decision log, and prepares its export if there is to be one.
func (c *core) openLog() (err error) {
	if c.exporters, err = c.openExports(); err != nil {
		return err
	}
	c.decisions, err = audit.Open(audit.Config{StateDir: c.cfg.StateDir, Observer: c.metrics, Log: c.log,
		Scrub: c.scrubber.Scrub, Mask: c.mask, Bounds: bounds(c.cfg.DecisionLog), Needed: c.exporters.oldestNeeded})
	return err
}

// exporters send the decision log; either is nil if it is sent nowhere.
type exporters struct{ service, syslog *export.Exporter }

func (e exporters) all() []*export.Exporter { return []*export.Exporter{e.service, e.syslog} }

// oldestNeeded names the oldest segment that one of them is still to send.
func (e exporters) oldestNeeded() (oldest string) {
	for _, one := range e.all() {
		if segment := one.OldestNeeded(); segment != "" && (oldest == "" || segment < oldest) {
			oldest = segment
		}
	}
	return oldest
}

func (c *core) openExports() (e exporters, err error) {
	if to := c.cfg.DecisionLog.Export; to.URL != "" {
		service, err := export.NewService(to.Server, c.formatOf(to.Format))
		if err == nil {
			e.service, err = c.openExport("exported.json", service, c.metrics.Export())
		}
		if err != nil {
			return e, fmt.Errorf("preparing decision_log.export: %w", err)
		}
	}
	if to := c.cfg.DecisionLog.Syslog; to.Address != "" {
		client, err := syslog.New(to.Server, c.formatOf(to.Format))
		if err == nil {
			e.syslog, err = c.openExport("syslog.json", client, c.metrics.Syslog())
		}
		if err != nil {
			return e, fmt.Errorf("preparing decision_log.syslog: %w", err)
		}
	}
	return e, nil
}

func (c *core) openExport(cursor string, to export.Receiver, told export.Observer) (*export.Exporter, error) {
	return export.New(export.Config{StateDir: c.cfg.StateDir, Cursor: cursor, Receiver: to, Observer: told, Log: c.log})
}

// formatOf is nil where lines are sent as they are.
func (c *core) formatOf(name string) export.Format {
	if name != config.FormatOCSF {
		return nil
	}
	return func(line []byte) ([]byte, error) { return ocsf.Of(line, c.version) }
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

func unfinishedRequests(log *audit.Log) []answers.Unfinished {
	var list []answers.Unfinished
	for _, u := range log.UnfinishedRequests(time.Time{}) {
		list = append(list, answers.Unfinished(u))
	}
	return list
}
