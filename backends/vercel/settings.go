package vercel

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"

	"github.com/bailiff-dev/bailiff/backends"
)

var _ backends.Maker = (*Config)(nil)

// Defaults returns the configuration of a section that says nothing. Its image has
// bash, git, curl and python3, which sandboxes are expected to have.
func Defaults() *Config {
	return &Config{
		Token: backends.Credential{Env: "VERCEL_TOKEN"}, Region: "iad1",
		Image: "vercel/sandbox/universal:latest", Endpoint: "https://vercel.com/api",
	}
}

// Settings are the keys of backends.vercel.
func (c *Config) Settings() []backends.Setting {
	return []backends.Setting{
		{Key: "token", Into: &c.Token},
		{Key: "team", Into: &c.Team, Check: isID},
		{Key: "project", Into: &c.Project, Check: isID},
		{Key: "region", Into: &c.Region, Check: isID},
		{Key: "image", Into: &c.Image},
		{Key: "endpoint", Into: &c.Endpoint, Check: isEndpoint},
		{Key: "accept_missing_limits", Into: &c.AcceptMissing, Valid: acceptable},
	}
}

// Check wants to know whose machines to use.
func (c *Config) Check() error {
	if c.Team == "" || c.Project == "" {
		return errors.New("backends.vercel lacks the ids of the team and the project: set team and project")
	}
	return nil
}

// Isolated is true.
func (*Config) Isolated() bool { return true }

// DefaultImage is what sandboxes run where the policies name none.
func (c *Config) DefaultImage() string { return c.Image }

// Make makes the backend.
func (c *Config) Make(in backends.House) (backends.Backend, error) {
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

// isEndpoint wants nobody on the way to read the token.
func isEndpoint(text string) error {
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" {
		return fmt.Errorf("want an address such as https://vercel.com/api")
	}
	ip, _ := netip.ParseAddr(at.Hostname())
	if at.Scheme != "https" && !(at.Scheme == "http" && ip.IsLoopback()) {
		return errors.New("want https, or http to this machine itself")
	}
	return nil
}
