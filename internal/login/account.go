package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/bailiff-dev/bailiff"
)

const (
	// skew is how far the provider's clock may be from this one.
	skew = time.Minute
	// longestName bounds the name of an account or a group, in bytes; mostGroups what one account has.
	longestName = 256
	mostGroups  = 1000
)

// signatures are the algorithms that need a key which only the provider has.
var signatures = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.EdDSA}

// account checks the token by which the provider says who logged in. A login in a browser has a nonce.
func (p *Provider) account(ctx context.Context, known *oidc.Provider, token *oauth2.Token, nonce string) (Account, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return Account{}, fmt.Errorf("%w: the provider sent no id_token; it must know this client as one of OpenID Connect", ErrRefused)
	}
	verifier := known.VerifierContext(ctx, &oidc.Config{ClientID: p.config.ClientID, SupportedSigningAlgs: signatures,
		Now: func() time.Time { return time.Now().Add(-skew) }})
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return Account{}, fmt.Errorf("%w: the id_token does not hold: %w", ErrRefused, brief(err))
	}
	claims, err := p.claims(ctx, known, token, id)
	if err != nil {
		return Account{}, err
	}
	if err := p.check(id, claims, nonce); err != nil {
		return Account{}, fmt.Errorf("%w: the id_token does not hold: %w", ErrRefused, err)
	}
	account, err := p.read(claims)
	if err != nil {
		return Account{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return account, nil
}

type claims map[string]json.RawMessage

// text is a claim that is a text; empty if it is none.
func (c claims) text(name string) (text string) {
	if json.Unmarshal(c[name], &text) != nil {
		return ""
	}
	return text
}

// claims are those of the token, and of the user info endpoint where the token lacks one that is needed.
func (p *Provider) claims(ctx context.Context, known *oidc.Provider, token *oauth2.Token, id *oidc.IDToken) (claims, error) {
	var all claims
	if err := id.Claims(&all); err != nil {
		return nil, fmt.Errorf("%w: the id_token holds no claims", ErrRefused)
	}
	lacks := func(name string) bool { return name != "" && all[name] == nil }
	if known.UserInfoEndpoint() == "" || !lacks(p.config.AccountClaim) && !lacks(p.config.GroupsClaim) {
		return all, nil
	}
	more, err := known.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, fmt.Errorf("%w: asking it for what it knows of the account: %w", ErrUnavailable, brief(err))
	}
	var told claims
	if more.Subject != id.Subject || more.Claims(&told) != nil {
		return nil, fmt.Errorf("%w: the provider tells of another account than the one that logged in", ErrRefused)
	}
	for name, value := range told {
		if all[name] == nil {
			all[name] = value
		}
	}
	return all, nil
}

// check is what the library leaves to its users.
func (p *Provider) check(id *oidc.IDToken, all claims, nonce string) error {
	party := all.text("azp")
	switch {
	case nonce != "" && id.Nonce != nonce:
		return errors.New("it was made for another login")
	case party != "" && party != p.config.ClientID, len(id.Audience) > 1 && party == "":
		return errors.New("it was made for another client")
	case id.IssuedAt.After(time.Now().Add(skew)):
		return errors.New("it was made in the future: the clocks of this machine and of the provider differ by more than a minute")
	}
	return nil
}

func (p *Provider) read(all claims) (a Account, err error) {
	a.ID = all.text(p.config.AccountClaim)
	switch {
	case a.ID == "" || len(a.ID) > longestName:
		return a, fmt.Errorf("the provider says no claim %s of up to %d bytes; operator.oidc.account_claim and scopes say what it is "+
			"asked for", p.config.AccountClaim, longestName)
	case p.config.AccountClaim == "email" && strings.Trim(string(all["email_verified"]), `"`) != "true":
		return a, errors.New("the provider has not verified the account's email, so that the address could be any person's")
	}
	a.Groups, err = groups(all[p.config.GroupsClaim])
	if err != nil {
		return a, fmt.Errorf("claim %s: %w", p.config.GroupsClaim, err)
	}
	return a, nil
}

// groups reads a list of names, or one name.
func groups(claim json.RawMessage) (all []string, err error) {
	var one string
	switch {
	case len(claim) == 0 || string(claim) == "null":
		return nil, nil
	case json.Unmarshal(claim, &one) == nil:
		all = []string{one}
	case json.Unmarshal(claim, &all) != nil:
		return nil, errors.New("want a list of names")
	}
	if len(all) > mostGroups {
		return nil, fmt.Errorf("the account has %d groups, want %d at most: have the provider send those only that bailiff needs",
			len(all), mostGroups)
	}
	if slices.ContainsFunc(all, func(name string) bool { return name == "" || len(name) > longestName }) {
		return nil, fmt.Errorf("want names of 1 to %d bytes", longestName)
	}
	return all, nil
}

// brief is an error in one line that repeats no address, whose query may be secret.
func brief(err error) error {
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err
	}
	return errors.New(bailiff.Foreign(err.Error()))
}
