package backends

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/trust"
)

// Catalogue holds the technologies that a sidecar knows, by the names that
// decisions use: what makes a section with its defaults.
type Catalogue map[string]func() Maker

// Maker is the section of one backend in bailiff.yaml, holding its defaults until
// the file has been read, and makes the backend of it.
type Maker interface {
	// Settings are the keys of the section.
	Settings() []Setting
	// Check says what is wrong with the section as a whole, once it has been read.
	Check() error
	// Isolated says what the backend will.
	Isolated() bool
	// DefaultImage is what sandboxes are made of where the policies name nothing; empty
	// if there are no images.
	DefaultImage() string
	// Make makes the backend. It talks to nobody yet.
	Make(in House) (Backend, error)
}

// House is what a sidecar gives each of its backends.
type House struct {
	// Runner is the path of the bailiff-runner program.
	Runner string
	// StateDir is a folder for the backend alone, which need not exist yet.
	StateDir string
	Log      *slog.Logger
}

// Setting is one key of a backend's section.
type Setting struct {
	Key string
	// Into is where the value goes, and what it holds before is the default:
	// *string, *[]string, *bool, *int, *time.Duration or *Credential. A []Setting is a
	// section below this one.
	Into any
	// Path says that a text, or each of a list, is a path of this machine: one that is
	// relative to the file, or starts with ~, is made absolute.
	Path bool
	// Valid are the only texts that there may be, in a list too; empty means any.
	Valid []string
	// Check says of a text or path, or of each of a list, what would be right, as in
	// "want unix:///path or tcp://host:port". Nil takes any that is not empty.
	Check func(value string) error
	// Least and Most bound a number, or a duration in seconds.
	Least, Most int
}

// Credential says where a secret is kept: in a file that is kept from others, or in a
// variable of the sidecar's own environment. It is read and judged at each use, so
// that it can be renewed.
type Credential struct {
	File, Env string
}

// Given says whether the configuration names a place.
func (c Credential) Given() bool { return c != Credential{} }

// Read returns the secret, without the white space around it.
func (c Credential) Read() (bailiff.Secret, error) {
	text, from := os.Getenv(c.Env), "variable "+c.Env
	if c.File != "" {
		content, err := trust.Secret(c.File)
		if err != nil {
			return bailiff.Secret{}, fmt.Errorf("reading a credential: %w", err)
		}
		text, from = string(content), c.File
	}
	if text = strings.TrimSpace(text); text == "" {
		return bailiff.Secret{}, fmt.Errorf("reading a credential: %s is empty", from)
	}
	return bailiff.NewSecret(text), nil
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

// step is the key under which a context carries who wants to hear of steps.
type step struct{}

// WithSteps has tell called with each long step that is taken for a caller, such as
// bringing an image: a sentence's beginning without names of anybody, as in "pulling
// image debian:12: 3 of 7 parts". It is a trace, as net/http/httptrace is one, and
// decides nothing.
func WithSteps(ctx context.Context, tell func(what string)) context.Context {
	return context.WithValue(ctx, step{}, tell)
}

// Step tells whoever listens what is being done that takes long.
func Step(ctx context.Context, format string, args ...any) {
	if tell, ok := ctx.Value(step{}).(func(string)); ok {
		tell(fmt.Sprintf(format, args...))
	}
}
