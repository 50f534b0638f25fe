package bubblewrap

import (
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

var _ backends.Maker = (*Config)(nil)

// Settings are the keys of backends.bubblewrap.
func (c *Config) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "root", Into: &c.Root, Path: true, Present: settings.IsFolder},
		{Key: "accept_missing_limits", Into: &c.AcceptMissing, Valid: workdirs.Acceptable},
		{Key: backends.MountsAllowed, Into: &c.MountsAllowed, Path: true, Check: backends.IsMountable, Present: settings.IsThere},
	}
}

// Check finds nothing that one key does not tell.
func (*Config) Check() error { return nil }

// Isolated is true.
func (*Config) Isolated() bool { return true }

// DefaultImage is none.
func (*Config) DefaultImage() string { return "" }

// Make makes the backend.
func (c *Config) Make(in backends.Host) (backends.Backend, error) {
	made := *c
	made.Runner, made.StateDir, made.Silence = in.Runner, in.StateDir, in.Silence
	return New(made)
}
