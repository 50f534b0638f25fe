package app

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/metrics"
)

// openMetrics opens the page for Prometheus and for whoever watches the process.
func (s *App) openMetrics() error {
	if s.cfg.Metrics.Listen == "" {
		return nil
	}
	listener, err := net.Listen("tcp", s.cfg.Metrics.Listen)
	if err != nil {
		return fmt.Errorf("opening the metrics page: %w; set metrics.listen to another address, or to \"\" for none", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		s.metrics.Show(s.state())
		s.page.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.readyz)
	s.meter = listener
	s.metered = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return nil
}

// state is what the metrics show of this moment.
func (s *App) state() metrics.State {
	now := metrics.State{
		PoliciesStale: s.stale(),
		LogFailing:    s.decisions.Err() != nil,
		ExportLag:     s.exporter.Lag(),
	}
	if oldest, _ := s.book.List(api.Query{State: bailiff.ApprovalPending, Limit: 1}); len(oldest) > 0 {
		now.OldestPending = oldest[0].Created
	}
	return now
}

func (s *App) serveMetrics() error {
	if err := s.metered.Serve(s.meter); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the metrics page: %w", err)
	}
	return nil
}

func (s *App) readyz(w http.ResponseWriter, _ *http.Request) {
	faults := s.faults()
	if len(faults) == 0 {
		fmt.Fprintln(w, "ready")
		return
	}
	http.Error(w, strings.Join(faults, "\n"), http.StatusServiceUnavailable)
}
