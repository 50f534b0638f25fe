package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// BrowserFor is how long a person has to log in at the provider.
const BrowserFor = 10 * time.Minute

// Begin returns where to send a browser, and what that browser must keep until the provider sends it
// back to redirect. State, nonce and PKCE's verifier are made of what is kept, so that nothing of a
// login that is never finished stays here, and no other browser can finish it.
func (p *Provider) Begin(ctx context.Context, redirect string) (url, kept string, err error) {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return "", "", err
	}
	defer leave()
	_, client, err := p.client(ctx, redirect)
	if err != nil {
		return "", "", err
	}
	kept = rand.Text() + "." + strconv.FormatInt(time.Now().Unix(), 10)
	return client.AuthCodeURL(part(kept, "state"), oidc.Nonce(part(kept, "nonce")), oauth2.S256ChallengeOption(part(kept, "verifier"))),
		kept, nil
}

// Finish checks what a browser brings back to redirect.
func (p *Provider) Finish(ctx context.Context, redirect, kept, state, code string) (Account, error) {
	if err := checkState(kept, state); err != nil {
		return Account{}, err
	}
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return Account{}, err
	}
	defer leave()
	known, client, err := p.client(ctx, redirect)
	if err != nil {
		return Account{}, err
	}
	token, err := client.Exchange(ctx, code, oauth2.VerifierOption(part(kept, "verifier")))
	if err != nil {
		return Account{}, exchangeError(err)
	}
	return p.account(ctx, known, token, part(kept, "nonce"))
}

func checkState(kept, state string) error {
	_, since, _ := strings.Cut(kept, ".")
	begun, err := strconv.ParseInt(since, 10, 64)
	switch {
	case kept == "" || err != nil:
		return fmt.Errorf("%w: this browser has begun no login; begin one at the console", ErrRefused)
	case subtle.ConstantTimeCompare([]byte(part(kept, "state")), []byte(state)) != 1:
		return fmt.Errorf("%w: this is not the login that this browser has begun; begin one at the console", ErrRefused)
	case time.Since(time.Unix(begun, 0)) > BrowserFor:
		return fmt.Errorf("%w: this login was begun more than %d minutes ago; begin another", ErrRefused, int(BrowserFor.Minutes()))
	}
	return nil
}

// part is one of the secrets of a login.
func part(kept, name string) string {
	sum := sha256.Sum256([]byte(name + " " + kept))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
