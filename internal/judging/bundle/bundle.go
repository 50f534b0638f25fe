// Package bundle follows policies that a server has as a bundle of OPA's: an archive at
// an address, told apart by its ETag.
//
// What is fetched is offered to the policies, which say whether it is sound, and is kept
// on disk once it is. A start asks the server first, and takes what was kept last where
// the server does not answer or what it has is not sound; what is kept is checked like
// what is fetched. From then on the server is asked again and again, more rarely while
// that fails, and never sooner than it wants. After each failure the policies in force stay
// there, the fault is told, and so is when the server last vouched for what was sound.
//
// To be sound is one thing, to be in force another: while an operator has rolled back
// to other policies, what is sound is kept all the same, and nothing else ever is.
//
// Not here: signatures, and whether policies are right (pdp).
package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff/internal/host/trust"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// Observer is told whenever the server vouched for what was found sound last. Whether
// that is in force, or an operator rolled back to others, is for the observer to know.
type Observer interface {
	BundleConfirmed()
}

// Config says where a bundle is; every field is required.
type Config struct {
	// Server has the bundle at its address.
	Server httpapi.Server
	// Poll is how long to wait before the server is asked again.
	Poll time.Duration
	// Dir is where the last good bundle is kept.
	Dir      string
	Observer Observer
	Log      *slog.Logger
}

// Source is a bundle at a server. Its methods but Status are for one at a time.
type Source struct {
	config Config
	client *httpapi.Client
	etag   string // of what was found sound last
	status atomic.Pointer[Status]
}

// Status is what an operator may want to know of a source.
type Status struct {
	// Confirmed is when the server last vouched for what was found sound last, in force or
	// waiting for the end of a rollback; zero if it has not since the start.
	Confirmed time.Time
	// Fault is why it does not now; nil if it did when it was asked last.
	Fault error
	// Unkept is why a start without the server would lack the last good bundle; nil if it
	// would not.
	Unkept error
}

// New makes a source without a call to the server, and clears away the unfinished files of
// one that was killed.
func New(c Config) (*Source, error) {
	if err := records.Clear(c.Dir); err != nil {
		return nil, fmt.Errorf("opening the folder of bundles: %w", err)
	}
	client, err := c.Server.Client("the bundle server", nil) // its address may hold a token
	if err != nil {
		return nil, fmt.Errorf("preparing policies.bundle: %w", err)
	}
	s := &Source{config: c, client: client}
	s.status.Store(&Status{})
	return s, nil
}

// Status tells how it stands with the server.
func (s *Source) Status() Status { return *s.status.Load() }

// patience is how long a start waits for the server.
const patience = 15 * time.Second

// Opener opens the policies of an archive, which lies in a file if it was kept. It says
// what is wrong with them and, apart from that, whether policies are in force now: they
// may be others, that an operator rolled back to.
type Opener func(archive []byte, file string) (inForce bool, wrong error)

// Start has policies opened: those that the server has or, where they cannot be had or
// are not sound, those that were kept. Where neither is sound and nothing is in force,
// the error says what is wrong with both.
func (s *Source) Start(ctx context.Context, open Opener) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	inForce := false
	fetched, err := s.fetch(bounded)
	if err == nil {
		inForce, err = open(fetched.text, "")
	}
	if err == nil {
		s.accept(fetched)
		return nil
	}
	return s.fallBack(err, inForce, open)
}

// fallBack has what was kept opened, as what the server has cannot be used.
func (s *Source) fallBack(why error, inForce bool, open Opener) error {
	kept, wrong := LastGood(s.config.Dir)
	if wrong == nil {
		var now bool
		if now, wrong = open(kept, File(s.config.Dir)); wrong != nil {
			inForce, wrong = inForce || now,
				fmt.Errorf("what was kept before cannot be used either: %w; have the server give a sound bundle, which replaces it, or "+
					"put the one of a backup in its place", wrong)
		}
	}
	switch {
	case wrong == nil:
		why = fmt.Errorf("%w; those that were kept before are in their place", why)
	case inForce:
		why = fmt.Errorf("%w; and %w", why, wrong)
	default:
		return fmt.Errorf("%w; and %w", why, wrong)
	}
	s.fail(why)
	return nil
}

// Taker puts an archive of policies in force, or says what is wrong with it.
type Taker interface {
	Offer(ctx context.Context, archive []byte) error
}

// rarest is how rarely a server is asked that fails.
const rarest = 10 * time.Minute

// Follow asks the server until ctx ends, and never sooner than it wants.
func (s *Source) Follow(ctx context.Context, policies Taker) {
	pause := s.config.Poll
	for httpapi.Wait(ctx, max(pause, httpapi.After(s.Status().Fault))) == nil {
		if s.ask(ctx, policies) {
			pause = s.config.Poll
		} else {
			pause = min(2*pause, max(rarest, s.config.Poll))
		}
	}
}

func (s *Source) ask(ctx context.Context, policies Taker) bool {
	fetched, err := s.fetch(ctx)
	switch {
	case httpapi.Status(err) == http.StatusNotModified:
		s.confirm(s.Status().Unkept)
		return true
	case err == nil:
		err = policies.Offer(ctx, fetched.text)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.etag = "" // so that it is offered again
		s.fail(err)
	default:
		s.accept(fetched)
	}
	return err == nil
}

// fetched is an archive as it came.
type fetched struct {
	text []byte
	etag string
}

const (
	// maxArchive bounds an archive, in bytes.
	maxArchive = 64 << 20
	// fetching is how long it may take to come.
	fetching = 2 * time.Minute
)

// fetch asks for another archive than the one that was found sound last.
func (s *Source) fetch(ctx context.Context) (f fetched, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetching)
	defer cancel()
	call := httpapi.Call{Method: http.MethodGet, Address: s.config.Server.URL, Idempotent: true, Header: http.Header{},
		Heard: func(h http.Header) { f.etag = h.Get("ETag") }}
	if s.etag != "" {
		call.Header.Set("If-None-Match", s.etag)
	}
	body, err := s.client.Stream(ctx, call)
	if err != nil {
		return f, err
	}
	defer func() { _ = body.Close() }() // it was only read
	f.text, err = io.ReadAll(io.LimitReader(body, maxArchive+1))
	if err == nil && len(f.text) > maxArchive {
		err = fmt.Errorf("reading the bundle: it is larger than %d MiB", maxArchive>>20)
	}
	return f, err
}

// accept keeps what was found sound. What cannot be kept is fetched again, as it may be
// kept then.
func (s *Source) accept(f fetched) {
	unkept := records.Write(File(s.config.Dir), f.text, true)
	if s.etag = f.etag; unkept != nil {
		s.etag = ""
		if s.Status().Unkept == nil {
			s.config.Log.Error("the last good bundle cannot be kept for a start without its server", "error", unkept)
		}
	}
	s.confirm(unkept)
}

func (s *Source) confirm(unkept error) {
	if s.Status().Fault != nil {
		s.config.Log.Info("the bundle server gives sound policies again")
	}
	s.status.Store(&Status{Confirmed: time.Now(), Unkept: unkept})
	s.config.Observer.BundleConfirmed()
}

func (s *Source) fail(err error) {
	before := s.Status()
	if before.Fault == nil || before.Fault.Error() != err.Error() {
		s.config.Log.Error("the bundle server gave no policies that can be in force", "error", err)
	}
	s.status.Store(&Status{Confirmed: before.Confirmed, Fault: err, Unkept: before.Unkept})
}

// ErrNone says that no bundle was kept.
var ErrNone = errors.New("none was kept before")

// LastGood is the last good bundle that a source kept in a folder, [ErrNone] if there is none.
func LastGood(dir string) ([]byte, error) {
	path := File(dir)
	text, err := os.ReadFile(path)
	if err == nil {
		err = trust.Path(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		err = ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("reading the bundle that was kept: %w", err)
	}
	return text, nil
}

// File is where a source keeps the last good bundle.
func File(dir string) string { return filepath.Join(dir, "bundle.tar.gz") }
