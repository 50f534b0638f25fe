package docker

import (
	"errors"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
)

var _ backends.Maker = (*Config)(nil)

// Defaults returns the configuration of a section that says nothing. Its image has
// bash, git, curl and python3, which sandboxes are expected to have.
func Defaults() *Config { return &Config{Image: "python:3.13-bookworm"} }

// Settings are the keys of backends.docker.
func (c *Config) Settings() []backends.Setting {
	return []backends.Setting{
		{Key: "host", Into: &c.Host, Check: isEngine},
		{Key: "image", Into: &c.Image},
		{Key: "user", Into: &c.User, Check: backends.IsUnprivileged},
		{Key: "accept_missing_limits", Into: &c.AcceptMissingLimits, Valid: acceptable},
		{Key: "mounts_allowed", Into: &c.MountsAllowed, Path: true, Check: backends.IsMountable},
	}
}

// Check finds nothing that one key does not tell.
func (*Config) Check() error { return nil }

// Isolated is true.
func (*Config) Isolated() bool { return true }

// DefaultImage is what sandboxes run where the policies name none.
func (c *Config) DefaultImage() string { return c.Image }

// Make makes the backend.
func (c *Config) Make(in backends.House) (backends.Backend, error) {
	made := *c
	made.Runner, made.StateDir, made.Log = in.Runner, in.StateDir, in.Log
	return New(made)
}

func isEngine(host string) error {
	scheme, rest, _ := strings.Cut(host, "://")
	if rest == "" || !slices.Contains([]string{"unix", "tcp", "http", "https"}, scheme) {
		return errors.New("want unix:///path or tcp://host:port")
	}
	return nil
}
