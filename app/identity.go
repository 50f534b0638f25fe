package app

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/console"
	"github.com/bailiff-dev/bailiff/internal/approval/people"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/login"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// secure gives the console its certificate, and the provider by which people log in.
func (a *App) secure(c *console.Config) error {
	o := a.cfg.Operator
	if o.TLS.Name != "" {
		a.certificate.name, a.certificate.files = o.TLS.Name, o.TLS
		if err := a.certificate.read(); err != nil {
			return err
		}
		c.Name, c.TLS = o.TLS.Name, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: a.certificate.current}
	}
	if o.OIDC.Issuer == "" {
		return nil
	}
	roots, err := httpapi.Roots(o.OIDC.CAFile)
	if err != nil {
		return fmt.Errorf("reading operator.oidc.ca_file: %w", err)
	}
	provider := login.Config{Issuer: o.OIDC.Issuer, ClientID: o.OIDC.ClientID, AccountClaim: o.OIDC.AccountClaim,
		GroupsClaim: o.OIDC.GroupsClaim, Scopes: o.OIDC.Scopes, Roots: roots}
	if o.OIDC.ClientSecret.IsSet() {
		provider.Secret = o.OIDC.ClientSecret.Read
	}
	c.Provider = identities{login.New(provider), a}
	return nil
}

// certificate is by what the console shows who it is. Its files are read again with the configuration.
type certificate struct {
	name  string // empty where the console has none
	files config.ConsoleTLS
	now   atomic.Pointer[tls.Certificate]
}

// read takes over what is in the files now; what cannot serve leaves the one so far in force.
func (c *certificate) read() error {
	if c.name == "" {
		return nil
	}
	next, err := c.files.Read()
	if err != nil {
		return fmt.Errorf("reading operator.tls: %w", err)
	}
	c.now.Store(next)
	return nil
}

// prepare reads the files, whose names stay, when they change: what is at fault in them keeps no person's rights from ending.
func (c *certificate) prepare(*config.Config) (func(context.Context) error, error) {
	return func(context.Context) error { return c.read() }, nil
}

func (c *certificate) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.now.Load(), nil
}

// identities are the accounts of the provider as the people that they belong to.
type identities struct {
	*login.Provider
	app *App
}

var _ console.Provider = identities{}

// Finish says who logged in in a browser.
func (i identities) Finish(ctx context.Context, redirect, kept, state, code string) (bailiff.Approver, error) {
	account, err := i.Provider.Finish(ctx, redirect, kept, state, code)
	if err != nil {
		return bailiff.Approver{}, err
	}
	return i.app.admit(ctx, account, bailiff.LoginOIDC)
}

// BeginDevice begins a login on a command line.
func (i identities) BeginDevice(ctx context.Context) (console.Device, error) {
	d, err := i.Provider.BeginDevice(ctx)
	if err != nil {
		return console.Device{}, err
	}
	return console.Device{URL: d.URL, Complete: d.Complete, Code: d.Code, Expires: d.Expires,
		Await: func(waiting context.Context) (bailiff.Approver, error) {
			account, err := i.AwaitDevice(waiting, d)
			if err != nil {
				return bailiff.Approver{}, err
			}
			return i.app.admit(context.WithoutCancel(waiting), account, bailiff.LoginDevice)
		}}, nil
}

// admit says which of the people an account belongs to. What the provider says of its groups holds from
// then on, for what is pending too.
func (a *App) admit(ctx context.Context, account login.Account, way string) (bailiff.Approver, error) {
	if a.roster.IdentifyLogin(account.ID, way).Person == "" {
		return bailiff.Approver{}, fmt.Errorf("%w: the account %q belongs to no person in people of bailiff.yaml; name it there, as in "+
			"oidc: [%q]",
			login.ErrRefused, account.ID, account.ID)
	}
	err := a.roster.logins.keep(account)
	if err == nil && a.roster.logins.unplanned.Swap(false) {
		if err = a.approvals.Replan(ctx); err != nil {
			a.roster.logins.unplanned.Store(true) // for the next login, whose groups may be the same
		}
	}
	if err != nil {
		return bailiff.Approver{}, fmt.Errorf("%w: %w", login.ErrUnavailable, err)
	}
	return a.roster.IdentifyLogin(account.ID, way), nil
}

// logins are the groups that the OpenID provider said of each account when it last logged in. They are
// kept, so that it is known after a restart whom a question can be put to.
type logins struct {
	store     *records.Store[lastLogin]
	unplanned atomic.Bool // approvals are pending whose plans go by other groups

	keeping sync.Mutex // one login at a time is written down, while the groups of all can be asked for
	mu      sync.Mutex
	all     map[string][]string // by account
}

var _ people.Logins = (*logins)(nil)

// lastLogin is one account's.
type lastLogin struct {
	Account string    `json:"account"`
	Groups  []string  `json:"groups"`
	At      time.Time `json:"at"`
}

// Key is a name for a file, which an account need not be.
func (l lastLogin) Key() string {
	sum := sha256.Sum256([]byte(l.Account))
	return hex.EncodeToString(sum[:16])
}

const loginsFolder = "logins"

func openLogins(stateDir string, log *slog.Logger) (*logins, error) {
	store, err := records.Open(records.Config[lastLogin]{Dir: filepath.Join(stateDir, loginsFolder), Durable: true, Log: log})
	if err != nil {
		return nil, fmt.Errorf("opening what is known of logins: %w", err)
	}
	kept, err := store.All()
	if err != nil {
		return nil, err
	}
	l := &logins{store: store, all: map[string][]string{}}
	for _, one := range kept {
		l.all[one.Account] = one.Groups
	}
	return l, nil
}

// Logins are those that a sidecar remembers in the state folder.
func Logins(cfg *config.Config) (people.Logins, error) {
	if _, err := os.Stat(filepath.Join(cfg.StateDir, loginsFolder)); errors.Is(err, fs.ErrNotExist) || cfg.Operator.OIDC.Issuer == "" {
		return &logins{}, nil // which looking makes no folder for
	}
	return openLogins(cfg.StateDir, slog.New(slog.DiscardHandler))
}

// Groups are an account's.
func (l *logins) Groups(account string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[account]
}

// keep remembers a login, and notes where its groups are others than before.
func (l *logins) keep(a login.Account) error {
	l.keeping.Lock()
	defer l.keeping.Unlock()
	if err := l.store.Keep(lastLogin{a.ID, a.Groups, time.Now().UTC()}); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, known := l.all[a.ID]; !known || !slices.Equal(before, a.Groups) {
		l.unplanned.Store(true)
	}
	l.all[a.ID] = a.Groups
	return nil
}
