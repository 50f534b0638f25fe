package modal

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	modal "github.com/modal-labs/modal-client/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// answerWithin is how long Modal may take for what it does at once.
const answerWithin = 30 * time.Second

// patience is how long a call is repeated that Modal wants to have later.
var patience = 20 * time.Second

// token is what Modal knows a sidecar by.
type token struct {
	id     string
	secret bailiff.Secret
}

// account is Modal's client for one token. A token that was renewed makes another
// account; the old one stays for the sandboxes that were made with it.
type account struct {
	*modal.Client
	token token
	users int // the backend is one, each sandbox and call another
	// line is the client's own connection.
	line atomic.Pointer[grpc.ClientConn]
}

// use is the account of the token that there is now, until leave.
func (b *Backend) use() (*account, error) {
	now, err := b.cfg.token()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == nil || b.current.token != now {
		made, err := connect(b.cfg, now)
		if err != nil {
			return nil, fmt.Errorf("%w: making a client of Modal: %w", backends.ErrUnavailable, bailiff.ForeignError(err, now.secret))
		}
		if b.current != nil {
			b.current.drop()
		}
		b.current = made
	}
	b.current.users++
	return b.current, nil
}

func (b *Backend) leave(a *account) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a.drop()
}

func (a *account) drop() {
	if a.users--; a.users == 0 {
		a.Close()
	}
}

func (c *Config) token() (token, error) {
	id, err := c.TokenID.Read()
	if err != nil {
		return token{}, fmt.Errorf("backends.modal.token_id: %w", err)
	}
	secret, err := c.TokenSecret.Read()
	if err != nil {
		return token{}, fmt.Errorf("backends.modal.token_secret: %w", err)
	}
	return token{id.Reveal(), secret}, nil
}

// connect makes a client that knows of no other token than this one, whatever lies
// in the home of the sidecar's user.
func connect(cfg Config, t token) (*account, error) {
	a := &account{token: t, users: 1}
	params := &modal.ClientParams{
		TokenID: t.id, TokenSecret: t.secret.Reveal(), Environment: cfg.Environment, Logger: cfg.Log, MaxThrottleWait: &patience,
		GRPCUnaryInterceptors: []grpc.UnaryClientInterceptor{a.intercept},
	}
	empty(&params.Config)
	var err error
	a.Client, err = modal.NewClientWithOptions(params)
	return a, err
}

// empty sets a pointer to a type that has no name here.
func empty[T any](at **T) { *at = new(T) }

// intercept keeps the connection that calls are made by: Modal's client has no
// method for one of the calls that Modal knows. Its parameters are gRPC's.
func (a *account) intercept(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	a.line.Store(cc)
	return call(ctx, method, req, reply, cc, opts...)
}

// app is what Modal files the sandboxes under.
func (b *Backend) app(ctx context.Context, a *account) (*modal.App, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	app, err := a.Apps.FromName(ctx, b.cfg.App, &modal.AppFromNameParams{CreateIfMissing: true})
	if err != nil {
		return nil, a.fault(ctx, "asking Modal for app "+b.cfg.App, err)
	}
	return app, nil
}

// fault makes one sentence of why a call failed that was made within ctx.
func (a *account) fault(ctx context.Context, doing string, err error) error {
	if late := ctx.Err(); late != nil {
		return fmt.Errorf("%w: %s: %w", backends.ErrUnavailable, doing, late)
	}
	told := status.Convert(err)
	said := bailiff.Foreign(told.Message(), a.token.secret)
	if code := told.Code(); code == codes.Unauthenticated || code == codes.PermissionDenied {
		return fmt.Errorf("%w: %s: Modal refuses the token (%s): renew what backends.modal.token_id and token_secret name",
			backends.ErrUnavailable, doing, said)
	}
	return fmt.Errorf("%w: %s: %s", backends.ErrUnavailable, doing, said)
}

func isGone(err error) bool {
	var gone modal.NotFoundError
	return errors.As(err, &gone) || status.Code(err) == codes.NotFound
}
