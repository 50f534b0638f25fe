package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/judging/bundle"
	"github.com/bailiff-dev/bailiff/internal/judging/observed"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// openPolicies opens those of the configuration, from the server where that has them.
func (c *core) openPolicies(ctx context.Context) error {
	settings, err := offline.PolicySettings(c.cfg)
	if err != nil {
		return err
	}
	settings.History, settings.Log, settings.Observer = c.history, c.log, reloads{c}
	settings.TestCommand = c.testCommand
	if settings.Passes, err = passes.Open(offline.PassesDir(c.cfg)); err != nil {
		c.log.Warn("which tests of the policies passed is not remembered", "error", err)
	}
	open := func() error {
		c.policies, err = pdp.Open(ctx, settings)
		return err
	}
	if c.cfg.Policies.Bundle == nil {
		return open()
	}
	if c.source, err = newSource(c); err != nil {
		return err
	}
	return c.source.Start(ctx, func(archive []byte, file string) (inForce bool, wrong error) {
		if c.policies != nil { // by a rollback: this is what waits for its end
			return true, inFile(file, settings.Archive.Name, c.policies.Offer(ctx, archive))
		}
		settings.Archive = offline.Archive(c.cfg.Policies.Bundle, archive)
		if err := open(); err != nil {
			return false, inFile(file, settings.Archive.Name, err)
		}
		return true, inFile(file, settings.Archive.Name, c.policies.Sound())
	})
}

// inFile has faults name the file where a bundle was kept, rather than where it once
// came from.
func inFile(file, name string, err error) error {
	var faults source.Faults
	if file == "" || !errors.As(err, &faults) {
		return err
	}
	faults = slices.Clone(faults)
	for i, f := range faults {
		if inside, ok := strings.CutPrefix(f.File, name); ok {
			faults[i].File = file + inside
		}
	}
	return faults
}

func newSource(c *core) (*bundle.Source, error) {
	b := c.cfg.Policies.Bundle
	return bundle.New(bundle.Config{Server: b.Server, Poll: b.Poll, Dir: offline.PoliciesDir(c.cfg), Observer: reloads{c}, Log: c.log})
}

// reloads are told what becomes of the policies.
type reloads struct{ *core }

// OutOfTime has the metrics count an evaluation that took too long.
func (c reloads) OutOfTime() { c.metrics.OutOfTime() }

// Reloaded has the metrics and the decision log hold the reload, and has what is live
// judged again.
func (c reloads) Reloaded(ok bool, revision string) {
	c.metrics.Reloaded(ok, revision)
	message := "in force"
	if !ok {
		message = "refused, the last good policies stay in force"
	}
	c.decisions.Note(api.Event{
		DecisionID: audit.NewID(), Timestamp: time.Now().UTC(), Bundles: map[string]api.Bundle{"policies": {Revision: revision}},
		Custom: api.Custom{Event: api.ReloadEvent, Message: message},
	})
	if c.policies != nil {
		c.updateTableLabels(context.Background())
		c.logObserved(context.Background())
	}
	if ok {
		c.signal()
		c.memory.reloaded()
	}
}

// BundleConfirmed tells the metrics, unless what the server vouches for waits for the
// end of a rollback.
func (c reloads) BundleConfirmed() {
	if c.policies.Status().RolledBack == nil {
		c.metrics.BundleConfirmed()
	}
}

// observed are the rows of the table observe.
func (c *core) observed(ctx context.Context) []api.ObservedRule {
	rows, err := observed.Rules(ctx, c.policies)
	if err != nil {
		c.log.Warn("which rules are observed cannot be told", "error", err)
	}
	return rows
}

// logObserved has the sidecar's own log say, each time that policies come into force, which rules are only observed.
func (c *core) logObserved(ctx context.Context) {
	for _, row := range c.observed(ctx) {
		if row.InForce {
			c.log.Warn("a rule is only observed, and neither asks nor denies", "rule", row.Rule, "until", row.Until)
		}
	}
}
