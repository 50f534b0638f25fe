package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/bundle"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/guard"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

// policiesDir is where a sidecar keeps the policies that were in force.
func policiesDir(cfg *config.Config) string { return filepath.Join(cfg.StateDir, "policies") }

// openPolicies opens those of the configuration, from the server where that has them.
func (c *core) openPolicies(ctx context.Context) error {
	settings, err := policySettings(c.cfg)
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
		settings.Archive = archived(c.cfg.Policies.Bundle, archive)
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
	return bundle.New(bundle.Config{Server: b.Server, Poll: b.Poll, Dir: policiesDir(c.cfg), Observer: c, Log: c.log})
}

// BundleConfirmed tells the metrics, unless what the server vouches for waits for the
// end of a rollback.
func (c *core) BundleConfirmed() {
	if c.policies.Status().RolledBack == nil {
		c.metrics.BundleConfirmed()
	}
}

func archived(b *config.PolicyBundle, text []byte) *pdp.Archive {
	a := &pdp.Archive{Name: b.URL, Text: text}
	if b.Key.File != "" {
		a.Key = &pdp.Key{File: b.Key.File, Algorithm: b.Key.Algorithm, Scope: b.Key.Scope}
	}
	return a
}

// openLast opens the policies of the configuration for who is no sidecar: a bundle is
// the last one that the sidecar kept.
func openLast(ctx context.Context, cfg *config.Config) (*pdp.PDP, error) {
	settings, err := policySettings(cfg)
	if err != nil {
		return nil, err
	}
	settings.Explained = true
	if cfg.Policies.Bundle != nil {
		if settings.Archive, err = lastArchive(cfg); err != nil {
			return nil, err
		}
	}
	return pdp.Open(ctx, settings)
}

func lastArchive(cfg *config.Config) (*pdp.Archive, error) {
	text, err := bundle.Kept(policiesDir(cfg))
	if err != nil {
		return nil, err
	}
	last := archived(cfg.Policies.Bundle, text)
	last.Name = bundle.File(policiesDir(cfg))
	return last, nil
}

// policySettings are those that the configuration says.
func policySettings(cfg *config.Config) (pdp.Config, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	guards, err := guard.New(cfg.Guards)
	return pdp.Config{Guard: guards, Paths: cfg.Policies.Paths, RequireTests: cfg.Policies.RequireTests, EvalTimeout: cfg.Policies.EvalTimeout, Home: home}, err
}
