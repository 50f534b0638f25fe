package app

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// newBackends makes the configured backends by the names that decisions use.
func (c *core) newBackends() (map[string]backends.Backend, error) {
	program, err := runner.Find(c.cfg.Runner.Path)
	if err != nil {
		return nil, err
	}
	silence := time.Duration(0)
	if c.cfg.Store.Postgres.DSN.IsSet() {
		silence = runner.Silence
	}
	all := map[string]backends.Backend{}
	for name, section := range c.cfg.Backends {
		all[name], err = section.Make(backends.Host{Runner: program, StateDir: filepath.Join(c.cfg.StateDir, name), Log: c.log,
			Owner: owner(c.cfg), Epoch: c.epoch, Silence: silence, CheckOwner: c.checkOwner})
		if err != nil {
			return nil, fmt.Errorf("configuring backend %s: %w", name, err)
		}
	}
	return all, nil
}

// mountable is a backend whose sandboxes show folders of this machine, and that can be told which while it runs.
type mountable interface{ AllowMounts(folders []string) }

// followMounts lets sandboxes that are made from now on show the folders of other sections.
func (c *core) followMounts(next map[string]backends.Maker) {
	for name, backend := range c.backends {
		if b, ok := backend.(mountable); ok && next[name] != nil {
			if folders, _ := backends.ListOf(next[name], backends.MountsAllowed); folders != nil {
				b.AllowMounts(slices.Clone(*folders))
			}
		}
	}
}

// closeBackends ends what they hold open by themselves, such as connections.
func closeBackends(all map[string]backends.Backend) error {
	var faults []error
	for name, backend := range all {
		if open, ok := backend.(io.Closer); ok {
			if err := open.Close(); err != nil {
				faults = append(faults, fmt.Errorf("closing backend %s: %w", name, err))
			}
		}
	}
	return errors.Join(faults...)
}
