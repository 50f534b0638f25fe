package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// NewConsole returns a client of the console at a URL, https or http of this machine, as who has the
// token of a login. It serves what the operators' socket does, but links and break-glass. Roots may
// vouch for it; nil are those of this machine.
func NewConsole(url string, token bailiff.Secret, roots *x509.CertPool) (*Client, error) {
	if err := httpapi.CheckAddress(url); err != nil {
		return nil, fmt.Errorf("reading the console's address: %w", err)
	}
	return &Client{address: url, token: token, base: strings.TrimSuffix(url, "/"), patience: patience, prompt: prompt, stopping: stopping,
		http: &http.Client{CheckRedirect: stay, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment,
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}}, nil
}

// BeginLogin begins a login that a person completes in a browser.
func (c *Client) BeginLogin(ctx context.Context) (api.DeviceLogin, error) {
	return ask[api.DeviceLogin](ctx, c, c.patience, http.MethodPost, "/login/device", nil)
}

// AwaitLogin waits for the person, for half a minute at most: the answer has no token while they have
// not logged in.
func (c *Client) AwaitLogin(ctx context.Context, device string) (api.DeviceLoggedIn, error) {
	return tell[api.DeviceLoggedIn](ctx, c, c.stopping, http.MethodPost, "/login/device/wait", api.DeviceWait{Device: device})
}

// Logout ends the login of the token.
func (c *Client) Logout(ctx context.Context) error {
	return c.silently(ctx, c.prompt, http.MethodPost, "/logout", nil)
}
