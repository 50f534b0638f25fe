package backends

import (
	"errors"
	"log/slog"
	"regexp"

	"github.com/bailiff-dev/bailiff/backends/settings"
)

// Catalogue holds the technologies that a sidecar knows, by the names that
// decisions use: what makes a section with its defaults.
type Catalogue map[string]func() Maker

// Maker is the section of one backend in bailiff.yaml, holding its defaults until
// the file has been read, and makes the backend of it.
type Maker interface {
	// Settings are the keys of the section.
	Settings() []settings.Setting
	// Check says what is wrong with the section as a whole, once it has been read.
	Check() error
	// Isolated says what the backend will.
	Isolated() bool
	// DefaultImage is what sandboxes are made of where the policies name nothing; empty
	// if there are no images.
	DefaultImage() string
	// Make makes the backend. It does not connect yet.
	Make(in Host) (Backend, error)
}

// Host is what a sidecar gives each of its backends.
type Host struct {
	// Runner is the path of the bailiff-runner program.
	Runner string
	// StateDir is a folder for the backend alone, which need not exist yet.
	StateDir string
	Log      *slog.Logger
	// Epoch is that of this sidecar's name where sidecars share a store; nil means that they share none.
	Epoch func() int64
}

var numericUser = regexp.MustCompile(`^[1-9][0-9]{0,8}:[1-9][0-9]{0,8}$`)

// IsUnprivileged checks a setting that names a user by numbers.
func IsUnprivileged(user string) error {
	if !numericUser.MatchString(user) {
		return errors.New(`want numeric uid:gid of a user that is not root, such as "10000:10000"`)
	}
	return nil
}

// IsMountable checks a setting that names a folder of which mounts may be taken.
func IsMountable(folder string) error {
	if folder == "/" {
		return errors.New("want a folder, not the whole machine")
	}
	return nil
}
