package main

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/bubblewrap"
	"github.com/bailiff-dev/bailiff/backends/docker"
	"github.com/bailiff-dev/bailiff/backends/local"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// newBackends makes the configured backends by the names that decisions use.
func newBackends(cfg *config.Config, log *slog.Logger) (map[string]backends.Backend, error) {
	program, err := runner.Find(cfg.Runner.Path)
	if err != nil {
		return nil, err
	}
	all := map[string]backends.Backend{}
	add := func(name string, b backends.Backend, err error) error {
		if err != nil {
			return fmt.Errorf("configuring backend %s: %w", name, err)
		}
		all[name] = b
		return nil
	}
	if c := cfg.Backends.Docker; c != nil {
		b, err := docker.New(docker.Config{Host: c.Host, Image: c.Image, User: c.User, Runner: program,
			AcceptMissingLimits: c.AcceptMissingLimits, MountsAllowed: c.MountsAllowed, StateDir: filepath.Join(cfg.StateDir, "docker"), Log: log})
		if err := add("docker", b, err); err != nil {
			return nil, err
		}
	}
	if c := cfg.Backends.Bubblewrap; c != nil {
		b, err := bubblewrap.New(bubblewrap.Config{Root: c.Root, Runner: program, StateDir: filepath.Join(cfg.StateDir, "bubblewrap"),
			AcceptMissing: c.AcceptMissingLimits, MountsAllowed: c.MountsAllowed})
		if err := add("bubblewrap", b, err); err != nil {
			return nil, err
		}
	}
	if c := cfg.Backends.Local; c != nil {
		b, err := local.New(local.Config{Runner: program, Workdir: c.Workdir, StateDir: filepath.Join(cfg.StateDir, "local")})
		if err := add("local", b, err); err != nil {
			return nil, err
		}
	}
	return all, nil
}
