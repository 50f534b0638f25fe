package apptainer

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

var _ backends.Maker = (*Config)(nil)

// Defaults returns the configuration of a section that says nothing. Its image has
// bash, git, curl and python3, which sandboxes are expected to have.
func Defaults() *Config { return &Config{Image: "docker://python:3.13-bookworm"} }

// Settings are the keys of backends.apptainer.
func (c *Config) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "program", Into: &c.Program, Path: true, Present: isProgram},
		{Key: "image", Into: &c.Image, Check: isImage, Present: isImageHere},
		{Key: "auth_file", Into: &c.AuthFile, Path: true, Present: settings.IsSecret},
		{Key: "user", Into: &c.User, Check: backends.IsUnprivileged},
		{Key: "accept_missing_limits", Into: &c.AcceptMissing, Valid: workdirs.Acceptable},
		{Key: backends.MountsAllowed, Into: &c.MountsAllowed, Path: true, Check: backends.IsMountable, Present: settings.IsThere},
	}
}

// Check finds nothing that one key does not tell.
func (*Config) Check() error { return nil }

// Isolated is true.
func (*Config) Isolated() bool { return true }

// DefaultImage is what sandboxes are made of where the policies name none.
func (c *Config) DefaultImage() string { return c.Image }

// Make makes the backend.
func (c *Config) Make(in backends.Host) (backends.Backend, error) {
	made := *c
	made.Runner, made.StateDir, made.Silence = in.Runner, in.StateDir, in.Silence
	return New(made)
}

func isProgram(path string) error {
	_, err := exec.LookPath(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no program %s: install apptainer 1.1 or later, or name where it is", path)
	}
	return err
}
