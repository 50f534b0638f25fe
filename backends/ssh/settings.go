package ssh

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/remote"
)

var _ backends.Maker = (*Config)(nil)

// Defaults returns the configuration of a section that says nothing: the known hosts
// are those of the ssh command.
func Defaults() *Config {
	return &Config{SSH: settings.UsualSSH()}
}

// Settings are the keys of backends.ssh.
func (c *Config) Settings() []settings.Setting {
	return slices.Concat([]settings.Setting{
		{Key: "host", Into: &c.Host, Check: remote.IsHost},
		{Key: "folder", Into: &c.Folder, Check: isAbsolute},
		{Key: "workdir", Into: &c.Workdir, Check: isAbsolute},
		{Key: "sandbox", Into: &c.Sandbox, Valid: []string{Bubblewrap}},
	}, remote.Settings(&c.SSH), within(c.Inside.Settings()))
}

// within are the settings of a sandbox on the host, whose paths are the host's.
func within(list []settings.Setting) []settings.Setting {
	for i, s := range list {
		if s.Path {
			list[i].Path, list[i].Check, list[i].Present = false, both(isAbsolute, s.Check), nil
		}
	}
	return list
}

func both(first, second func(string) error) func(string) error {
	return func(value string) error {
		if err := first(value); err != nil || second == nil {
			return err
		}
		return second(value)
	}
}

func isAbsolute(value string) error {
	if !filepath.IsAbs(value) || filepath.Clean(value) != value || value == "/" {
		return errors.New("want the absolute path of a folder on the host")
	}
	return nil
}

// Check says what the section lacks or says in vain.
func (c *Config) Check() error {
	inside := c.Inside
	switch {
	case c.Host == "":
		return errors.New("host is missing: want user@name or user@name:port")
	case len(c.Keys) == 0 && c.Agent == "":
		return errors.New("keys and agent are missing: name the file of a private key, or the socket of an agent that holds one")
	case c.Sandbox == "" && (inside.Root != "" || len(inside.AcceptMissing)+len(inside.MountsAllowed) > 0):
		return errors.New("root, accept_missing_limits and mounts_allowed are for sandbox: bubblewrap")
	case c.Sandbox != "" && c.Workdir != "":
		return errors.New("workdir is for commands on the host itself; in a sandbox they begin in /workspace")
	}
	_, err := remote.To(c.SSH, c.Host, c.StateDir)
	return err
}

// Isolated says whether there is a sandbox on the host.
func (c *Config) Isolated() bool { return c.Sandbox != "" }

// Start is the configured folder where there is no sandbox. The user's home only the host
// tells.
func (c *Config) Start() string { return c.Workdir }

// DefaultImage is none.
func (*Config) DefaultImage() string { return "" }

// Make makes the backend.
func (c *Config) Make(in backends.Host) (backends.Backend, error) {
	made := *c
	made.Runner, made.StateDir = in.Runner, in.StateDir
	return New(made)
}

// Bubblewrap is the one kind of sandbox that there is on the host.
const Bubblewrap = "bubblewrap"
