package modal

import (
	"errors"

	modal "github.com/modal-labs/modal-client/go"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

var _ backends.Maker = (*Config)(nil)

// Defaults is a section in which nothing is set.
func Defaults() *Config {
	return &Config{App: "bailiff", Image: "python:3.13-bookworm", Runtime: gvisor}
}

// Settings are the keys of backends.modal.
func (c *Config) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "token_id", Into: &c.TokenID},
		{Key: "token_secret", Into: &c.TokenSecret},
		{Key: "environment", Into: &c.Environment, Check: named},
		{Key: "app", Into: &c.App, Check: named},
		{Key: "image", Into: &c.Image, Check: imaged},
		{Key: "runtime", Into: &c.Runtime, Valid: []string{gvisor, vm}},
		{Key: "accept_missing_limits", Into: &c.AcceptMissing, Valid: []string{diskMB, pids, readOnly}},
	}
}

// The runtimes that Modal has.
const (
	gvisor = string(modal.SandboxRuntimeGVisor)
	vm     = string(modal.SandboxRuntimeVM)
)

func named(text string) error {
	if !plainName.MatchString(text) {
		return errors.New("want at most 64 letters, digits, dashes, periods and underscores")
	}
	return nil
}

func imaged(text string) error {
	if !isImage(text) {
		return errors.New("want the name of an image in a registry, or im-… for one that Modal has")
	}
	return nil
}

// Check wants the token.
func (c *Config) Check() error {
	if !c.TokenID.IsSet() || !c.TokenSecret.IsSet() {
		return errors.New("token_id and token_secret are missing: make a token with `modal token new` and say where its halves are, as " +
			"in {env: MODAL_TOKEN_ID}")
	}
	return nil
}

// Isolated is true.
func (*Config) Isolated() bool { return true }

// DefaultImage is what sandboxes are made of where nothing names another image.
func (c *Config) DefaultImage() string { return c.Image }

// Make makes the backend.
func (c *Config) Make(in backends.Host) (backends.Backend, error) {
	cfg := *c
	cfg.Runner, cfg.Log = in.Runner, in.Log
	return New(cfg)
}
