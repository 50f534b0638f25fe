package offline

import (
	"context"
	"os"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/bundle"
	"github.com/bailiff-dev/bailiff/internal/judging/guard"
	"github.com/bailiff-dev/bailiff/internal/judging/replay"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/internal/secrets/env"
)

// LoadConfig finds and reads the configuration.
func LoadConfig(explicit string) (*config.Config, error) {
	path, err := config.Find(explicit)
	if err != nil {
		return nil, err
	}
	return config.Load(path, catalogue.All())
}

// PoliciesDir is where a sidecar keeps the policies that were in force.
func PoliciesDir(cfg *config.Config) string { return filepath.Join(cfg.StateDir, "policies") }

// PassesDir is where a sidecar remembers which tests of policies passed.
func PassesDir(cfg *config.Config) string { return filepath.Join(cfg.StateDir, "policy-tests") }

func Archive(b *config.PolicyBundle, text []byte) *source.Archive {
	a := &source.Archive{Name: b.URL, Text: text}
	if b.Key.File != "" {
		a.Key = &source.Key{File: b.Key.File, Algorithm: b.Key.Algorithm, Scope: b.Key.Scope}
	}
	return a
}

// OpenPolicies opens the policies of the configuration for programs that put nothing in force, so that no tests are run: a bundle
// is the last one that the sidecar kept.
func OpenPolicies(ctx context.Context, cfg *config.Config) (*pdp.PDP, error) {
	settings, err := PolicySettings(cfg)
	if err != nil {
		return nil, err
	}
	settings.Explained, settings.Untested, settings.Passes = true, true, passes.Read(PassesDir(cfg))
	if cfg.Policies.Bundle != nil {
		if settings.Archive, err = LastArchive(cfg); err != nil {
			return nil, err
		}
	}
	return pdp.Open(ctx, settings)
}

func LastArchive(cfg *config.Config) (*source.Archive, error) {
	text, err := bundle.LastGood(PoliciesDir(cfg))
	if err != nil {
		return nil, err
	}
	last := Archive(cfg.Policies.Bundle, text)
	last.Name = bundle.File(PoliciesDir(cfg))
	return last, nil
}

// PolicySettings are those that the configuration says.
func PolicySettings(cfg *config.Config) (pdp.Config, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	guards, err := guard.New(cfg.Guards)
	return pdp.Config{Guard: guards, Paths: cfg.Policies.Paths, RequireTests: cfg.Policies.RequireTests,
		EvalTimeout: cfg.Policies.EvalTimeout, Home: home, People: PeopleOf(cfg)}, err
}

func OpenVariables(cfg *config.Config) (*env.Sources, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	sources := make([]string, len(cfg.Env.Sources))
	for i, source := range cfg.Env.Sources {
		sources[i] = "process"
		if source.File != "" {
			sources[i] = "file:" + source.File
		}
	}
	return env.Open(sources, home)
}

// Floor is what no policy can lift, whichever judges.
func Floor(cfg *config.Config) replay.Floor {
	return enforcer.Floor{Credentials: cfg.Credentials()}.Under
}
