// Package httpapi asks the HTTP APIs of others, such as a cloud's.
//
// A [Call] is one question. [Client.Do] asks it and reads an answer in JSON,
// [Client.Stream] hands an answer on as it comes, [Client.Upgrade] begins what
// becomes another protocol. Promised of each, whichever server answers:
//
// The credential is read for each attempt, so that it can be renewed. It goes to the
// address of the call and follows no redirection; [CheckAddress] tells the addresses
// where no one on the way can read it. No error repeats it.
//
// An answer is bounded: in time until it begins, and where it is read here until its
// end; in bytes where it is read here.
//
// A call that may have been done is asked again only where the caller says that it
// may be done twice. An answer of 429 or 503 says that nothing was done, so it is
// asked again always. What asking again cannot mend (another refusal, an answer that
// is nonsense or too long, a certificate without a known authority) is handed back at once.
//
// No server is asked sooner than it wants. Where Retry-After is within a bound, it is
// waited for; where it is beyond that, or beyond the end of the caller's context, the
// refusal is handed back at once, and says how long the caller would have to wait:
// asking sooner would be refused too, and prolong what others are kept waiting for.
//
// Errors are one line. They hold no address, since those name what belongs to whom,
// and what others said is cut and made harmless.
//
// How a refusal's body reads is each API's own, so its client says it ([Config]).
//
// A [Server] is one that bailiff.yaml names; what asks elsewhere makes its own [Config].
package httpapi

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// Config says who is asked, and as whom.
type Config struct {
	// Name is what errors call who answers, as in "Daytona".
	Name string
	// Credential is asked for at each attempt, and sent as a bearer token. Nil sends
	// none.
	Credential func() (bailiff.Secret, error)
	// Roots are who may vouch for who answers; nil are those of this machine.
	Roots *x509.CertPool
	// Reason reads why an answer is no. Nil leaves its body unread.
	Reason Reason
	// After reads from the same body for how long the API does not want to be asked again,
	// where no header says it. Nil finds nothing.
	After func(body []byte) time.Duration
}

// Reason reads why an answer is no from its body, which may be anything.
type Reason func(body []byte) (code, message string)

// Client asks one API. It may be used by many at a time.
type Client struct {
	cfg  Config
	http *http.Client
}

// New makes a client. It does not connect yet.
func New(cfg Config) *Client {
	return &Client{cfg, &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: cfg.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    10 * time.Second,
			IdleConnTimeout:        90 * time.Second,
			MaxIdleConnsPerHost:    8,
			MaxResponseHeaderBytes: 64 << 10,
			ForceAttemptHTTP2:      true,
			// A stream may say nothing for long: pings find out that its server is gone.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Roots are the authorities in a file of certificates as PEM; nil for no file.
func Roots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := trust.Public(path)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate as PEM", path)
	}
	return roots, nil
}

// IsRoots says what is wrong with such a file, for the operator who configures it.
func IsRoots(path string) error {
	if err := settings.IsPublic(path); err != nil {
		return err
	}
	_, err := Roots(path)
	return err
}
