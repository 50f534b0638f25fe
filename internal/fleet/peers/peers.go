// Package peers carries requests to the sidecar that serves their session, where several share a
// store.
//
// A [Router] stands between the doors of a sidecar and its enforcer. It runs what this sidecar is
// the home of, and sends the rest to the home, over TLS by which both sides prove that they belong
// to the fleet. There [Router.ServeHTTP] hands it to that sidecar's enforcer, with the caller
// and the peer that the door has verified. Progress comes back as it happens.
//
// Promised:
//
//   - a request is run by one sidecar: where it is not known whether another has begun it, it is
//     not sent to a third, and its sender is told that the outcome is unknown;
//   - a sidecar runs nothing of a session whose home it is not;
//   - who asks and goes away cancels the request where it runs;
//   - only who has a certificate of the fleet's authority is listened to.
//
// Not here: which sidecar a home is (internal/fleet).
package peers

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/config/required"
	"github.com/bailiff-dev/bailiff/internal/fleet"
)

const (
	// movedWithin is how long a request waits for a home that does not take it: what a dead
	// sidecar served is taken over after fifteen seconds. It is asked for again each lookEvery.
	movedWithin = 20 * time.Second
	lookEvery   = 250 * time.Millisecond
)

// Local is this sidecar's enforcer.
type Local interface {
	gateway.Enforcer
	gateway.Toolbox
}

// Homes say who serves a session.
type Homes interface {
	// Of is the home of a session, which is this sidecar's own where there was none.
	Of(ctx context.Context, s fleet.Session) (fleet.Home, error)
	// Home is the home of a session that may have none.
	Home(ctx context.Context, s fleet.Session) (fleet.Home, error)
	// Forget has a home looked up anew that proved wrong.
	Forget(s fleet.Session)
	// Leave gives up the home of a session that has ended.
	Leave(ctx context.Context, s fleet.Session) error
	// Members are the sidecars that there are.
	Members(ctx context.Context) ([]fleet.Member, error)
}

// Observer counts what is sent to other sidecars: "ok", "moved", "unreachable", "refused" or "lost".
type Observer interface{ ToPeer(outcome string) }

// Config is what a Router needs; Frozen and Tracer may be nil.
type Config struct {
	Local    Local
	Homes    Homes
	TLS      TLS
	Observer Observer
	// Frozen says whether an operator stopped a session: then its requests are denied here, and wait for no home.
	Frozen func(bailiff.Session) bool
	Tracer gateway.Tracer
}

// Router sends requests where they belong.
type Router struct {
	Local
	config  Config
	client  *client
	leaving atomic.Bool
}

// New returns a router, after a look at its certificates.
func New(c Config) (*Router, error) {
	err := required.Fields("peers", map[string]bool{"Local": c.Local == nil, "Homes": c.Homes == nil, "Observer": c.Observer == nil})
	if err != nil {
		return nil, err
	}
	client, err := newClient(c.TLS)
	if err != nil {
		return nil, err
	}
	return &Router{Local: c.Local, config: c, client: client}, nil
}

// Leave has what waits for approvers here go on waiting at the sidecar that sent it.
func (r *Router) Leave() { r.leaving.Store(true) }

// Close ends the connections to other sidecars.
func (r *Router) Close() { r.client.http.CloseIdleConnections() }

// Execute runs a request at its session's home.
func (r *Router) Execute(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
	if r.config.Frozen != nil && r.config.Frozen(req.Session) {
		return r.Local.Execute(ctx, req, news)
	}
	var a bailiff.Answer
	err := r.at(ctx, fleet.SessionOf(req), r.config.Homes.Of, func() error {
		a = r.Local.Execute(ctx, req, news)
		return nil
	}, func(address string) error {
		return r.client.execute(ctx, address, req, news, &a)
	})
	if err != nil {
		return failureAnswer(ctx, req, err)
	}
	return a
}

// failureAnswer words why a request was not run, or may have been.
func failureAnswer(ctx context.Context, req bailiff.Request, err error) bailiff.Answer {
	a := bailiff.Answer{RequestID: req.ID, Status: bailiff.Unavailable, Code: bailiff.CodeHome, ExitCode: bailiff.ExitFailed,
		Message: bailiff.Sentence(err.Error())}
	switch {
	case errors.Is(err, errLost):
		a.Status, a.Code = bailiff.Failed, bailiff.CodeOutcomeUnknown
	case ctx.Err() != nil:
		a.Status, a.Code, a.ExitCode = bailiff.Interrupted, "", bailiff.ExitInterrupted
	}
	return a
}

// Decide judges a request where its session is served, since that knows what the session did. One
// that is served nowhere is judged here.
func (r *Router) Decide(ctx context.Context, req bailiff.Request) bailiff.Decided {
	return r.judge(ctx, "decide", req, r.Local.Decide)
}

// Preview does the same.
func (r *Router) Preview(ctx context.Context, req bailiff.Request) bailiff.Decided {
	return r.judge(ctx, "preview", req, r.Local.Preview)
}

// judge judges here where it is not known where else: no word of another sidecar's would make
// that safer. What the client runs itself lies on this machine.
func (r *Router) judge(ctx context.Context, how string, req bailiff.Request,
	here func(context.Context, bailiff.Request) bailiff.Decided) bailiff.Decided {
	home, err := r.config.Homes.Home(ctx, fleet.SessionOf(req))
	if req.Folder != "" || err != nil || home.Mine || home.Replica == "" {
		return here(ctx, req)
	}
	var d bailiff.Decided
	if err := r.client.ask(ctx, home.Address, how, requestOf(req), &d); err != nil {
		r.config.Homes.Forget(fleet.SessionOf(req))
		return here(ctx, req)
	}
	return d
}

// EndSession ends a session where it is served.
func (r *Router) EndSession(ctx context.Context, caller, session string) (ended bailiff.Ended, err error) {
	s := fleet.Session{Caller: caller, ID: session}
	err = r.at(ctx, s, r.config.Homes.Home, func() (err error) {
		ended, err = r.Local.EndSession(ctx, caller, session)
		return errors.Join(err, r.config.Homes.Leave(context.WithoutCancel(ctx), s))
	}, func(address string) error {
		return r.client.ask(ctx, address, "end", sessionMessage{Caller: caller, Session: session}, &ended)
	})
	return ended, err
}

// RegisterTools says which tools a session has where it is served.
func (r *Router) RegisterTools(caller, session string, names []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), movedWithin)
	defer cancel()
	return r.at(ctx, fleet.Session{Caller: caller, ID: session}, r.config.Homes.Of, func() error {
		return r.Local.RegisterTools(caller, session, names)
	}, func(address string) error {
		return r.client.ask(ctx, address, "tools", sessionMessage{Caller: caller, Session: session, Tools: names}, nil)
	})
}

// AnswerTool gives a script its answer, wherever that runs: only the sidecar that asked knows
// the id of the call.
func (r *Router) AnswerTool(caller, id, result string, isError bool) error {
	err := r.Local.AnswerTool(caller, id, result, isError)
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), movedWithin)
	defer cancel()
	members, fault := r.config.Homes.Members(ctx)
	if fault != nil {
		return fault
	}
	for _, m := range members {
		if m.Address == "" || !m.Lives() {
			continue
		}
		if r.client.ask(ctx, m.Address, "answer", answerMessage{caller, id, result, isError}, nil) == nil {
			return nil
		}
	}
	return err
}

// at does what there is to do for a session here or at its home. A home that takes nothing, and
// has begun nothing, may be gone: then the session's next home does it.
func (r *Router) at(ctx context.Context, s fleet.Session, find func(context.Context, fleet.Session) (fleet.Home, error), here func() error,
	there func(address string) error) error {
	var last error
	for until, pause := time.Now().Add(movedWithin), time.Duration(0); ; pause = lookEvery {
		home, err := find(ctx, s)
		if err != nil {
			return fmt.Errorf("finding the sidecar that serves the session: %w", err)
		}
		if home.Mine || home.Replica == "" {
			return here()
		}
		err = there(home.Address)
		r.config.Observer.ToPeer(outcomeOf(err))
		if !errors.Is(err, errNotTaken) {
			return withHome(home, err)
		}
		r.config.Homes.Forget(s)
		if last = withHome(home, err); time.Now().After(until) {
			return last
		}
		select { // at first not for long: a sidecar that stops has given its sessions away before
		case <-time.After(pause):
		case <-ctx.Done():
			return last
		}
	}
}

func withHome(home fleet.Home, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the session is served by sidecar %s: %w", home.Replica, err)
}

func outcomeOf(err error) string {
	switch {
	case errors.Is(err, errMoved):
		return "moved"
	case errors.Is(err, errNotTaken):
		return "unreachable"
	case errors.Is(err, errRefused):
		return "refused"
	case errors.Is(err, errLost):
		return "lost"
	}
	return "ok"
}
