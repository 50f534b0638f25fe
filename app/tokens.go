package app

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"sync/atomic"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// tokens are those of operator.tokens.
type tokens struct {
	open func(config.Token) (http.Handler, error) // the API that a program is served
	log  *slog.Logger
	now  atomic.Pointer[[]*program]
}

// program is one, with the hash of the secret that it sends.
type program struct {
	config.Token
	secret  [sha256.Size]byte
	api     http.Handler
	log     *slog.Logger
	allowed context.Context // ends with the token
	end     context.CancelFunc
}

// read takes over tokens with what their files hold now; if one of them cannot serve, those so far stay.
func (ts *tokens) read(configured []config.Token) error {
	var next []*program
	for _, t := range configured {
		one, err := ts.program(t)
		if err != nil {
			return fmt.Errorf("operator.tokens: %s: %w", t.Name, err)
		}
		for _, other := range next {
			if other.secret == one.secret {
				return fmt.Errorf("operator.tokens: %s and %s have the same secret, want one for each", other.Name, t.Name)
			}
		}
		next = append(next, one)
	}
	if before := ts.now.Load(); before != nil {
		replace(*before, next)
	}
	ts.now.Store(&next)
	return nil
}

func (ts *tokens) program(t config.Token) (*program, error) {
	secret, err := t.Read()
	if err != nil {
		return nil, err
	}
	api, err := ts.open(t)
	if err != nil {
		return nil, err
	}
	one := &program{Token: t, secret: sha256.Sum256([]byte(secret.Reveal())), api: gateway.Scoped(api, t.Name, t.Scopes), log: ts.log}
	one.allowed, one.end = context.WithCancel(context.Background())
	return one, nil
}

// replace ends what programs are doing by tokens that are other ones now, or none.
func replace(before, next []*program) {
	for _, old := range before {
		kept := false
		for _, one := range next {
			if one.secret == old.secret && reflect.DeepEqual(one.Token, old.Token) {
				one.end()
				one.allowed, one.end, kept = old.allowed, old.end, true
			}
		}
		if !kept {
			old.end()
		}
	}
}

// find serves the program that a token is of; nil if it is of none.
func (ts *tokens) find(token string) http.Handler {
	given := sha256.Sum256([]byte(token))
	var found http.Handler
	for _, one := range *ts.now.Load() {
		if subtle.ConstantTimeCompare(given[:], one.secret[:]) == 1 {
			found = one
		}
	}
	return found
}

// ServeHTTP serves what the scopes cover, while there is such a token.
func (p *program) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.log.Info("serving a token", "token", p.Name, "method", r.Method, "path", r.URL.Path)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.allowed, cancel)()
	p.api.ServeHTTP(w, r.WithContext(ctx))
}

// programAPI is the operator API for a program, which answers and lifts nothing.
func (a *App) programAPI(t config.Token) (http.Handler, error) {
	who := bailiff.Approver{Credential: bailiff.Account("token", t.Name), Channel: bailiff.ChannelConsole, Login: bailiff.LoginToken}
	served := a.operatorAPI(func(*http.Request) (bailiff.Approver, bool) { return who, true })
	served.Permit = func(_ bailiff.Approver, to string) error {
		if to == bailiff.MayOperate || to == bailiff.MayRevoke {
			return nil
		}
		return fmt.Errorf("%w: this is for people", api.ErrIneligible)
	}
	return gateway.NewOperator(served)
}

// followTokens puts other tokens into force.
func (a *App) followTokens(configured []config.Token) error {
	if a.consolePage == nil {
		return nil
	}
	if err := a.tokens.read(configured); err != nil {
		return err
	}
	a.cfg.Operator.Tokens = configured
	return nil
}
