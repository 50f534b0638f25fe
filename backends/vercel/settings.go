package vercel

import (
	"errors"
	"regexp"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

var _ backends.Maker = (*Config)(nil)

// Defaults returns the configuration of a section that says nothing. Its image has
// bash, git, curl and python3, which sandboxes are expected to have.
func Defaults() *Config {
	return &Config{
		Token: settings.Credential{Env: "VERCEL_TOKEN"}, Region: "iad1",
		Image: "vercel/sandbox/universal:latest", Endpoint: "https://vercel.com/api",
	}
}

// Settings are the keys of backends.vercel.
func (c *Config) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "token", Into: &c.Token},
		{Key: "team", Into: &c.Team, Check: isID},
		{Key: "project", Into: &c.Project, Check: isID},
		{Key: "region", Into: &c.Region, Check: isID},
		{Key: "image", Into: &c.Image},
		{Key: "endpoint", Into: &c.Endpoint, Check: httpapi.CheckAddress},
		{Key: "accept_missing_limits", Into: &c.AcceptMissing, Valid: acceptable},
	}
}

// Check wants to know whose machines to use.
func (c *Config) Check() error {
	if c.Team == "" || c.Project == "" {
		return errors.New("team and project are missing: want the ids of the team that pays and of its project")
	}
	return nil
}

// Isolated is true.
func (*Config) Isolated() bool { return true }

// DefaultImage is what sandboxes run where the policies name none.
func (c *Config) DefaultImage() string { return c.Image }

// Make makes the backend.
func (c *Config) Make(in backends.Host) (backends.Backend, error) {
	made := *c
	made.Runner, made.Log = in.Runner, in.Log
	return New(made)
}

var id = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

func isID(text string) error {
	if !id.MatchString(text) {
		return errors.New("want letters, digits, - and _, as in team_1a2b3c")
	}
	return nil
}
