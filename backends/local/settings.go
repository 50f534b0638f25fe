package local

import (
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

var _ backends.Maker = (*Config)(nil)

// Settings are the keys of backends.local.
func (c *Config) Settings() []settings.Setting {
	return []settings.Setting{{Key: "workdir", Into: &c.Workdir, Path: true, Present: settings.IsFolder}}
}

// Check finds nothing that one key does not tell.
func (*Config) Check() error { return nil }

// Isolated is false.
func (*Config) Isolated() bool { return false }

// DefaultImage is none.
func (*Config) DefaultImage() string { return "" }

// Start is where commands begin.
func (c *Config) Start() string {
	if c.Workdir != "" {
		return c.Workdir
	}
	home, err := homeFolder()
	if err != nil {
		return ""
	}
	return home
}

// Make makes the backend.
func (c *Config) Make(in backends.Host) (backends.Backend, error) {
	made := *c
	made.Runner, made.StateDir, made.Silence = in.Runner, in.StateDir, in.Silence
	return New(made)
}
