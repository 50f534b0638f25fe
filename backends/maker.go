package backends

import (
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"time"

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
	// Owner is that of the specs that it will be given; empty where sandboxes are made for a trial only.
	Owner string
	// Epoch is that of this sidecar's name where sidecars share a store; nil means that they share none.
	Epoch func() int64
	// Silence is how long a sandbox that ends with the sidecar hears nothing of it before it ends by itself, as of one that
	// is paused while others serve its sessions; zero means never.
	Silence time.Duration
	// CheckOwner says why a later run may have that name by now; nil as for Epoch.
	CheckOwner func() error
}

// MountsAllowed is the key of the folders that sandboxes may show. A running sidecar takes over what it says, and no other key of
// a section.
const MountsAllowed = "mounts_allowed"

// NeedRestart says whether sections differ in more than a running sidecar takes over.
func NeedRestart(now, next map[string]Maker) bool {
	return !maps.EqualFunc(now, next, func(a, b Maker) bool { return areEqual(a.Settings(), b.Settings()) })
}

// areEqual compares what settings hold, but for the folders that sandboxes may show.
func areEqual(a, b []settings.Setting) bool {
	return slices.EqualFunc(a, b, func(a, b settings.Setting) bool {
		if a.Key != b.Key {
			return false
		}
		belowA, isSection := a.Into.([]settings.Setting)
		belowB, _ := b.Into.([]settings.Setting)
		if isSection {
			return areEqual(belowA, belowB)
		}
		return a.Key == MountsAllowed || reflect.DeepEqual(a.Into, b.Into)
	})
}

// ListOf is where a section keeps the list of a key, and the only texts that may be in it, where not any may; nil if it has no
// such list.
func ListOf(section Maker, key string) (into *[]string, valid []string) {
	for _, s := range section.Settings() {
		if list, ok := s.Into.(*[]string); ok && s.Key == key {
			return list, s.Valid
		}
	}
	return nil, nil
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
