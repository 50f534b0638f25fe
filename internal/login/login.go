// Package login asks an OpenID provider who a person is: in a browser by the code flow, with
// PKCE, state and nonce ([Provider.Begin], [Provider.Finish]), on a command line by the device
// flow ([Provider.BeginDevice], [Provider.AwaitDevice]).
//
// What is promised:
//   - an [Account] comes from a token that this provider signed for this client and for this very
//     login, with an asymmetric key of its key set of the moment, and that has not expired;
//   - clocks may differ by a minute;
//   - the provider is asked when a person logs in, never before: a provider that does not answer
//     keeps people from logging in, and nothing else;
//   - no redirection is followed, every answer is bounded, and few logins are checked at once;
//   - no error holds a token, a code or a secret.
//
// Not here: who the account belongs to (internal/approval/people), and what a login lasts (gateway/console).
package login

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Why a person is not logged in. Each is wrapped in one sentence for people.
var (
	// ErrRefused: what came back proves no login.
	ErrRefused = errors.New("refused")
	// ErrUnavailable: the provider could not be asked.
	ErrUnavailable = errors.New("the provider cannot be asked")
	// ErrPending: the person has not logged in yet.
	ErrPending = errors.New("pending")
)

// Config names a provider, and this program to it.
type Config struct {
	Issuer   string
	ClientID string
	// Secret is asked for at each use; nil where the client has none.
	Secret func() (bailiff.Secret, error)
	// AccountClaim names the account. GroupsClaim lists its groups; empty means that none are taken over.
	AccountClaim, GroupsClaim string
	// Scopes are asked for beside openid.
	Scopes []string
	// Roots may vouch for the provider; nil are those of this machine.
	Roots *x509.CertPool
}

// Account is who logged in, as the provider says.
type Account struct {
	ID     string
	Groups []string
}

const (
	// patience is how long the provider may take to answer.
	patience = 10 * time.Second
	// again is after how long a provider that could not be asked is asked again.
	again = 5 * time.Second
	// atOnce is how many logins are checked at once.
	atOnce = 8
	// largestAnswer bounds an answer of the provider, in bytes.
	largestAnswer = 4 << 20
)

// Provider is one provider. It may be used concurrently.
type Provider struct {
	config Config
	http   *http.Client
	places chan struct{}

	asking singleflight.Group

	mu     sync.Mutex     // is not held while the provider is asked
	known  *oidc.Provider // nil until it was asked what it is
	failed time.Time
	fault  error
}

// New connects to nothing yet.
func New(c Config) *Provider {
	return &Provider{config: c, places: make(chan struct{}, atOnce), http: &http.Client{
		Timeout: patience,
		Transport: bounded{&http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: patience}).DialContext,
			TLSClientConfig: &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: patience,
			IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// bounded cuts off answers that are too long.
type bounded struct{ http.RoundTripper }

// RoundTrip asks.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, largestAnswer), resp.Body}
	}
	return resp, err
}

// enter takes a place among the logins that are checked at once, and has the libraries use this
// package's client.
func (p *Provider) enter(ctx context.Context) (context.Context, func(), error) {
	select {
	case p.places <- struct{}{}:
		return oidc.ClientContext(ctx, p.http), func() { <-p.places }, nil
	default:
		return nil, nil, fmt.Errorf("%w: too many logins are checked at once; try again in a moment", ErrUnavailable)
	}
}

// discover asks the provider once what it is. One that could not be asked is left alone for a moment. All
// logins wait for the one question, so it goes on when the person who caused it has gone; each waits no
// longer than its own person.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	if known, fault := p.discovery(); known != nil || fault != nil {
		return known, fault
	}
	asking := p.asking.DoChan("", func() (any, error) { return nil, p.ask(context.WithoutCancel(ctx)) })
	select {
	case asked := <-asking:
		if asked.Err != nil {
			return nil, asked.Err
		}
		return p.discovery()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
}

// discovery is what is known, or why the provider is not asked now; both are nil where it is to be asked.
func (p *Provider) discovery() (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil && time.Since(p.failed) < again {
		return nil, p.fault
	}
	return p.known, nil
}

func (p *Provider) ask(ctx context.Context) error {
	known, err := oidc.NewProvider(ctx, p.config.Issuer)
	if err == nil {
		err = checkEndpoints(known.Endpoint())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.failed, p.fault = time.Now(), fmt.Errorf("%w: %w", ErrUnavailable, brief(err))
		return p.fault
	}
	p.known = known
	return nil
}

// checkEndpoints refuses a provider that wants codes or tokens in the clear.
func checkEndpoints(e oauth2.Endpoint) error {
	for name, address := range map[string]string{"authorization_endpoint": e.AuthURL, "token_endpoint": e.TokenURL} {
		if err := httpapi.CheckAddress(address); err != nil {
			return fmt.Errorf("its %s is %q: %w", name, address, err)
		}
	}
	return nil
}

// client is the provider, and this program as the provider knows it.
func (p *Provider) client(ctx context.Context, redirect string) (known *oidc.Provider, c *oauth2.Config, err error) {
	if known, err = p.discover(ctx); err != nil {
		return nil, nil, err
	}
	c = &oauth2.Config{ClientID: p.config.ClientID, Endpoint: known.Endpoint(), RedirectURL: redirect,
		Scopes: append([]string{oidc.ScopeOpenID}, p.config.Scopes...)}
	if p.config.Secret == nil {
		return known, c, nil
	}
	secret, err := p.config.Secret()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: client_secret: %w", ErrUnavailable, err)
	}
	c.ClientSecret = secret.Reveal()
	return known, c, nil
}

// exchangeError says of an error of the token endpoint whether the provider refused, without what it
// answered: that may repeat what it was sent.
func exchangeError(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.ErrorCode != "" {
		return fmt.Errorf("%w: the provider says %q", ErrRefused, bailiff.Foreign(refused.ErrorCode))
	}
	if errors.As(err, &refused) && refused.Response != nil {
		return fmt.Errorf("%w: it answers %d", ErrUnavailable, refused.Response.StatusCode)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, brief(err))
}

// Name is what people are shown: the provider's host.
func (p *Provider) Name() string {
	if u, err := url.Parse(p.config.Issuer); err == nil {
		return u.Host
	}
	return p.config.Issuer
}
