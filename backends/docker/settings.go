package docker

import (
	"errors"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/network/remote"
)

var _ backends.Maker = (*Config)(nil)

// Defaults returns the configuration of a section that says nothing. Its image has
// bash, git, curl and python3, which sandboxes are expected to have.
func Defaults() *Config {
	return &Config{Image: "python:3.13-bookworm", SSH: settings.UsualSSH()}
}

// Settings are the keys of backends.docker.
func (c *Config) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "host", Into: &c.Host, Check: isEngine},
		{Key: "tls", Into: []settings.Setting{
			{Key: "ca", Into: &c.TLS.CA, Path: true, Present: httpapi.IsRoots},
			{Key: "cert", Into: &c.TLS.Cert, Path: true, Present: settings.IsPublic},
			{Key: "key", Into: &c.TLS.Key, Path: true, Present: c.TLS.isKey},
		}},
		{Key: "ssh", Into: remote.Settings(&c.SSH)},
		{Key: "image", Into: &c.Image},
		{Key: "runtime", Into: &c.Runtime, Check: isRuntime},
		{Key: "runtimes_allowed", Into: &c.RuntimesAllowed, Check: isRuntime},
		{Key: "user", Into: &c.User, Check: backends.IsUnprivileged},
		{Key: "accept_missing_limits", Into: &c.AcceptMissing, Valid: acceptable},
		{Key: backends.MountsAllowed, Into: &c.MountsAllowed, Path: true, Check: backends.IsMountable, Present: settings.IsThere},
	}
}

// Check says what is wrong with the engine's address together with its certificates.
func (c *Config) Check() error {
	_, err := c.connect()
	return err
}

// Isolated is true.
func (*Config) Isolated() bool { return true }

// DefaultImage is what sandboxes run where the policies name none.
func (c *Config) DefaultImage() string { return c.Image }

// Make makes the backend.
func (c *Config) Make(in backends.Host) (backends.Backend, error) {
	made := *c
	made.Runner, made.StateDir, made.Log, made.Epoch, made.CheckOwner = in.Runner, in.StateDir, in.Log, in.Epoch, in.CheckOwner
	made.Owner = in.Owner
	return New(made)
}

func isEngine(host string) error {
	_, err := locate(host)
	switch {
	case errors.Is(err, errPassword):
		return errPassword
	case err != nil:
		return errors.New(wantedAddresses)
	}
	return nil
}
