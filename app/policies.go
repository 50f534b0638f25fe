package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/bundle"
	"github.com/bailiff-dev/bailiff/internal/offline"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

// openPolicies opens those of the configuration, from the server where that has them.
func (c *core) openPolicies(ctx context.Context) error {
	settings, err := offline.PolicySettings(c.cfg)
	if err != nil {
		return err
	}
	settings.History, settings.Log, settings.Observer = c.history, c.log, c
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
	var faults pdp.Faults
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
	return bundle.New(bundle.Config{Server: b.Server, Poll: b.Poll, Dir: offline.PoliciesDir(c.cfg), Observer: c, Log: c.log})
}

// BundleConfirmed tells the metrics, unless what the server vouches for waits for the
// end of a rollback.
func (c *core) BundleConfirmed() {
	if c.policies.Status().RolledBack == nil {
		c.metrics.BundleConfirmed()
	}
}
