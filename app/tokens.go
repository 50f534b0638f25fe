package app

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
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

// read takes over tokens with what their files hold now. One that cannot be read stays as it was if its entry is
// unchanged, and keeps no other from being replaced or withdrawn. The first time, each must be right.
func (ts *tokens) read(configured []config.Token) error {
	before := ts.now.Load()
	var all []*program
	var faults []error
	for _, t := range configured {
		one, err := ts.program(t)
		if err != nil {
			faults = append(faults, fmt.Errorf("operator.tokens: %s: %w", t.Name, err))
			one = earlierProgram(before, t)
		}
		if one != nil {
			all = append(all, one)
		}
	}
	next, shared := withOwnSecrets(all)
	err := errors.Join(append(faults, shared...)...)
	switch {
	case before != nil:
		replace(*before, next)
	case err != nil:
		return err
	}
	ts.now.Store(&next)
	return err
}

// earlierProgram is the program of an entry that was there before, or nil.
func earlierProgram(before *[]*program, t config.Token) *program {
	if before == nil {
		return nil
	}
	for _, old := range *before {
		if reflect.DeepEqual(old.Token, t) {
			return old
		}
	}
	return nil
}

// withOwnSecrets leaves out programs that have one secret together, which does not tell whose scopes hold.
func withOwnSecrets(all []*program) (own []*program, faults []error) {
	first, shared := map[[sha256.Size]byte]*program{}, map[[sha256.Size]byte]bool{}
	for _, one := range all {
		if other := first[one.secret]; other != nil {
			faults = append(faults, fmt.Errorf("operator.tokens: %s and %s have the same secret, want one for each", other.Name, one.Name))
			shared[one.secret] = true
			continue
		}
		first[one.secret] = one
	}
	return slices.DeleteFunc(all, func(one *program) bool { return shared[one.secret] }), faults
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
	one := &program{Token: t, secret: sha256.Sum256([]byte(secret.Reveal())), api: gateway.WithScopes(api, t.Name, t.Scopes), log: ts.log}
	one.allowed, one.end = context.WithCancel(context.Background())
	return one, nil
}

// replace ends what programs are doing by tokens that are other ones now, or none.
func replace(before, next []*program) {
	for _, old := range before {
		kept := false
		for _, one := range next {
			switch {
			case one == old:
				kept = true
			case one.secret == old.secret && reflect.DeepEqual(one.Token, old.Token):
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
	served.Undo = nil // it is a person's act
	served.Permit = func(_ bailiff.Approver, to string) error {
		if to == bailiff.MayOperate || to == bailiff.MayRevoke {
			return nil
		}
		return fmt.Errorf("%w: this is for people", api.ErrIneligible)
	}
	return gateway.NewOperator(served)
}

// prepareTokens has other tokens follow. What is at fault in one of them keeps none of the others from ending, so that tokens are read
// when they change.
func (a *App) prepareTokens(next *config.Config) (func(context.Context) error, error) {
	return func(context.Context) error {
		if a.consolePage == nil {
			return nil
		}
		a.cfg.Operator.Tokens = next.Operator.Tokens
		return a.tokens.read(next.Operator.Tokens)
	}, nil
}
