// Package daytona makes sandboxes that are machines of Daytona (its cloud, or an
// installation of one's own), by its HTTP interface.
//
// A sandbox here is one there. Its API makes and removes it; its toolbox, a
// service that Daytona runs inside it, takes the runner's file and opens a
// terminal over a WebSocket. Bailiff-runner is started in that terminal as root,
// which it makes raw and covers with package carrier, and runs commands as a user
// without any rights. No variable is ever given to the API: they travel in the
// runner's stream, which neither the API nor a file sees.
//
// The toolbox asks no process inside the sandbox who it is: each that reaches it is
// root there. So a sandbox without a network gets a network namespace of its own
// below Daytona's, in which commands find no other host; one with a network is refused
// unless the configuration accepts that its commands can become its root, which
// is then no boundary between the requests of one session any more.
//
// All that Daytona says it made is compared with what was asked for. A limit it
// cannot set is [backends.ErrUnsupported] by the field's name, unless the
// configuration accepts that name.
//
// Each sandbox has its name before it is asked for, so that one whose making was
// never answered for is found by it, or by a sweep for its labels. Daytona stops a
// sandbox that was unused for a while, and bailiff says that one is used for as
// long as it holds it: so one whose sidecar has died costs a few minutes. A stopped
// sandbox is deleted, unless it holds a named workspace.
//
// A named workspace is a sandbox that is stopped while it is unused. It serves
// equal specs again, with nothing left of it but the workspace; for another spec
// the workspace is carried into a new one.
//
// When the stream breaks, the sandbox is lost and its machine removed. No request
// that may have done something is made twice, and no command is run twice.
package daytona

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Backend makes sandboxes with one key.
type Backend struct {
	cfg    Config
	runner string
	log    *slog.Logger
	api    *client
	// life is how often a terminal must give a sign of it, beat how often Daytona is
	// told that a sandbox is used.
	life, beat time.Duration

	opening backends.Opening

	mu sync.Mutex
	// held are the named workspaces that a sandbox of this process has, each with
	// what is closed when it has it no more.
	held map[string]chan struct{}
}

var (
	_ backends.Backend  = (*Backend)(nil)
	_ backends.Resolver = (*Backend)(nil)
	_ backends.Sweeper  = (*Backend)(nil)
	_ backends.Keeper   = (*Backend)(nil)
)

// New checks the configuration; it does not talk to Daytona.
func New(cfg Config, in backends.Host) (*Backend, error) {
	if in.Runner == "" {
		return nil, errors.New("daytona backend lacks the path of bailiff-runner")
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return &Backend{
		cfg: cfg, runner: in.Runner, log: cmp.Or(in.Log, slog.Default()), api: newClient(cfg.URL, cfg.APIKey),
		life: 15 * time.Second, beat: cfg.AutoStop / 3,
		held: map[string]chan struct{}{},
	}, nil
}

// Isolated is true.
func (*Backend) Isolated() bool { return true }

// rights are those a key needs, as Daytona calls them.
var rights = []string{"write:sandboxes", "delete:sandboxes"}

// probeTime is how long Daytona may take to say whether it is there.
const probeTime = 10 * time.Second

// Ready asks Daytona what the key may do, once: who asks will ask again.
func (b *Backend) Ready(ctx context.Context) error {
	if _, err := os.Stat(b.runner); err != nil {
		return fmt.Errorf("%w: finding the runner: %w", backends.ErrUnavailable, err)
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	key, err := b.api.currentKey(ctx)
	if err != nil {
		return unavailable("asking Daytona about the key", err)
	}
	for _, right := range rights {
		if !slices.Contains(key.Permissions, right) {
			return fmt.Errorf("%w: the key of backends.daytona.api_key may not %s: give it that right in Daytona's dashboard",
				backends.ErrUnavailable, right)
		}
	}
	if key.ExpiresAt != nil && key.ExpiresAt.Before(time.Now()) {
		return fmt.Errorf("%w: the key of backends.daytona.api_key has expired: make a new one in Daytona's dashboard",
			backends.ErrUnavailable)
	}
	return nil
}

// Resolve takes an image by its digest as it is, and anything else for the name of
// a snapshot, whose id it returns.
func (b *Backend) Resolve(ctx context.Context, image string) (string, error) {
	image = cmp.Or(image, b.cfg.Image)
	switch {
	case image == "":
		return "", fmt.Errorf("%w: image: neither the policies nor backends.daytona.image name one", backends.ErrUnsupported)
	case isDigest(image):
		return image, nil
	}
	found, err := b.api.snapshot(ctx, image)
	if httpapi.Status(err) == http.StatusNotFound {
		return "", fmt.Errorf("%w: image: Daytona has no snapshot %q; name one that it has, or an image by its digest (name@sha256:…)",
			backends.ErrUnsupported, image)
	}
	if err != nil {
		return "", unavailable("looking for the snapshot", err)
	}
	if found.State != "active" {
		return "", fmt.Errorf("%w: image: the snapshot %q is %s, not active", backends.ErrUnavailable, image, found.State)
	}
	return found.ID, nil
}

// unavailable makes one sentence of what Daytona answered.
func unavailable(doing string, err error) error {
	switch httpapi.Status(err) {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %s: %w: set backends.daytona.api_key to a key that may write and delete sandboxes", backends.ErrUnavailable,
			doing, err)
	}
	if errors.Is(err, backends.ErrUnavailable) || errors.Is(err, backends.ErrUnsupported) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%w: %s: %w", backends.ErrUnavailable, doing, err)
}

// missing is an error unless the configuration accepts that name is missing.
func (b *Backend) missing(name, sentence string) error {
	if slices.Contains(b.cfg.AcceptMissing, name) {
		return nil
	}
	return fmt.Errorf("%w: %s: %s (accept it with backends.daytona.accept_missing_limits: [%s])", backends.ErrUnsupported, name, sentence,
		name)
}
