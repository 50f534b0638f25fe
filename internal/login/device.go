package login

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Device is a login on a command line that has begun.
type Device struct {
	// URL is where the person enters Code; Complete has the code in it, if the provider has such.
	URL, Complete, Code string
	Expires             time.Time
	asked               *oauth2.DeviceAuthResponse
}

// BeginDevice asks the provider for a code that a person enters in a browser.
func (p *Provider) BeginDevice(ctx context.Context) (Device, error) {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return Device{}, err
	}
	defer leave()
	_, client, err := p.client(ctx, "")
	if err != nil {
		return Device{}, err
	}
	if client.Endpoint.DeviceAuthURL == "" {
		return Device{}, fmt.Errorf("%w: it has no device flow, so log in to the console in a browser", ErrUnavailable)
	}
	asked, err := client.DeviceAuth(ctx)
	if err != nil {
		return Device{}, exchangeError(err)
	}
	return Device{URL: asked.VerificationURI, Complete: asked.VerificationURIComplete, Code: asked.UserCode, Expires: asked.Expiry,
		asked: asked}, nil
}

// AwaitDevice waits until the person has logged in, or ctx ends: then the error is [ErrPending].
func (p *Provider) AwaitDevice(ctx context.Context, d Device) (Account, error) {
	inner := oidc.ClientContext(ctx, p.http) // and no place: this waits for a person
	known, client, err := p.client(inner, "")
	if err != nil {
		return Account{}, err
	}
	token, err := client.DeviceAccessToken(inner, d.asked)
	switch {
	case err == nil:
		return p.account(context.WithoutCancel(inner), known, token, "")
	case ctx.Err() != nil && time.Now().Before(d.Expires):
		return Account{}, ErrPending
	case errors.Is(err, context.DeadlineExceeded):
		return Account{}, fmt.Errorf("%w: the code has expired; begin another login", ErrRefused)
	}
	return Account{}, exchangeError(err)
}
