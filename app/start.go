package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/record/outage"
)

// startPause is between two tries of a part of a start.
const startPause = time.Second

// awaitAnswer does a part of the start again until PostgreSQL lets it be done. Meanwhile probes are told why the
// sidecar is not ready.
func (c *core) awaitAnswer(ctx context.Context, part func(context.Context) error) error {
	for {
		err := part(ctx)
		if err == nil || ctx.Err() != nil || !postgres.IsAway(err) {
			c.awaited.Set(nil)
			return postgres.WithHint(err)
		}
		if c.awaited.Set(err) {
			c.log.Warn("the start waits for PostgreSQL", "error", err)
		}
		if err := c.openProbes(); err != nil {
			return err
		}
		c.probes.begin()
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for PostgreSQL: %w", ctx.Err())
		case <-time.After(startPause):
		}
	}
}

// probes are the page for Prometheus and for probes of the process. It is served from when a start has to wait, and
// shows then no more than why.
type probes struct {
	listener net.Listener
	server   *http.Server
	page     atomic.Pointer[http.ServeMux]
	begin    func()
	ended    chan error
}

// openProbes opens the page, once.
func (c *core) openProbes() error {
	if c.probes != nil || c.cfg.Metrics.Listen == "" {
		return nil
	}
	listener, err := net.Listen("tcp", c.cfg.Metrics.Listen)
	if err != nil {
		return fmt.Errorf("opening the metrics page: %w; set metrics.listen to another address, or to \"\" for none", err)
	}
	p := &probes{listener: listener, ended: make(chan error, 1)}
	p.server = &http.Server{ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.page.Load().ServeHTTP(w, r) })}
	p.begin = sync.OnceFunc(func() { go func() { p.ended <- p.server.Serve(p.listener) }() })
	p.page.Store(waitingPage(&c.awaited))
	c.probes = p
	return nil
}

// waitingPage says that the process lives, and what its start waits for.
func waitingPage(awaited *outage.Outage) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", alive)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		why := "starting"
		if err := awaited.Err(); err != nil {
			why = "starting: PostgreSQL: " + postgres.WithoutAddress(err).Error() // the rest is for the log
		}
		http.Error(w, why, http.StatusServiceUnavailable)
	})
	return mux
}

func alive(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

// serve serves until the page is closed.
func (p *probes) serve() error {
	p.begin()
	if err := <-p.ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the metrics page: %w", err)
	}
	return nil
}

func (p *probes) close() error { return errors.Join(p.server.Close(), closeListener(p.listener)) }

// closeListener closes a listener that may be closed.
func closeListener(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
