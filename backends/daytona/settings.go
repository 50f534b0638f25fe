package daytona

import (
	"errors"
	"regexp"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Config says with which Daytona to work and how.
type Config struct {
	// URL is where the API is.
	URL string
	// APIKey is where the key is kept.
	APIKey settings.Credential
	// Target is the region; empty means the organisation's own.
	Target string
	// Image is used where a spec names none: a snapshot, or an image by its digest.
	Image string
	// AutoStop is how long a sandbox may be unused before Daytona stops it.
	AutoStop time.Duration
	// AcceptMissing names what may be left out where Daytona cannot do it.
	AcceptMissing []string
}

// The names that AcceptMissing may hold. The toolbox is what commands with a
// network can become root by.
const (
	cpus     = "cpus"
	memoryMB = "memory_mb"
	diskMB   = "disk_mb"
	toolbox  = "toolbox"
)

var _ backends.Maker = (*Config)(nil)

// Defaults returns the configuration of a section that says nothing.
func Defaults() *Config {
	return &Config{URL: "https://app.daytona.io/api", AutoStop: 5 * time.Minute}
}

// Settings are the keys of backends.daytona.
func (c *Config) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "url", Into: &c.URL, Check: httpapi.CheckAddress},
		{Key: "api_key", Into: &c.APIKey},
		{Key: "target", Into: &c.Target},
		{Key: "image", Into: &c.Image, Check: isImage},
		{Key: "auto_stop", Into: &c.AutoStop, Least: 60, Most: 24 * 60 * 60},
		{Key: "accept_missing_limits", Into: &c.AcceptMissing, Valid: []string{cpus, memoryMB, diskMB, toolbox}},
	}
}

// Check wants a key.
func (c *Config) Check() error {
	if !c.APIKey.IsSet() {
		return errors.New("api_key is missing: say where the key is, as in {env: DAYTONA_API_KEY}")
	}
	return nil
}

// Isolated is true.
func (*Config) Isolated() bool { return true }

// DefaultImage is what sandboxes are made of where the policies name nothing.
func (c *Config) DefaultImage() string { return c.Image }

// Make makes the backend.
func (c *Config) Make(in backends.Host) (backends.Backend, error) { return New(*c, in) }

// mostName bounds names, rather than their patterns do: each of these would be a
// program of that length, made at every start.
const mostName = 255

var (
	digests   = regexp.MustCompile(`^[a-z0-9][a-zA-Z0-9._:/-]*@sha256:[0-9a-f]{64}$`)
	snapshots = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._:/-]*$`)
)

// isDigest says whether a name can mean one image only.
func isDigest(image string) bool {
	return len(image) <= mostName+len("@sha256:")+64 && digests.MatchString(image)
}

func isImage(image string) error {
	if !isDigest(image) && (len(image) > mostName || !snapshots.MatchString(image)) {
		return errors.New("want the name of a snapshot, or an image by its digest, as in name@sha256:…")
	}
	return nil
}
