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

// openMetrics opens the page for Prometheus and for probes of the process.
func (a *App) openMetrics() error {
	if a.cfg.Metrics.Listen == "" {
		return nil
	}
	listener, err := net.Listen("tcp", a.cfg.Metrics.Listen)
	if err != nil {
		return fmt.Errorf("opening the metrics page: %w; set metrics.listen to another address, or to \"\" for none", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		a.metrics.Show(a.state())
		a.page.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", a.readyz)
	a.metricsListener = listener
	a.metricsServer = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return nil
}

// state is what the metrics show of this moment.
func (a *App) state() metrics.State {
	now := metrics.State{
		PoliciesStale: a.stale(),
		LogFailing:    a.decisions.Err() != nil,
		ExportLag:     a.exporters.service.Lag(),
		SyslogLag:     a.exporters.syslog.Lag(),
	}
	if oldest, _ := a.approvals.List(api.Query{State: bailiff.ApprovalPending, Limit: 1}); len(oldest) > 0 {
		now.OldestPending = oldest[0].Created
	}
	return now
}

func (a *App) serveMetrics() error {
	if err := a.metricsServer.Serve(a.metricsListener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the metrics page: %w", err)
	}
	return nil
}

func (a *App) readyz(w http.ResponseWriter, _ *http.Request) {
	faults := a.faults()
	if len(faults) == 0 {
		fmt.Fprintln(w, "ready")
		return
	}
	http.Error(w, strings.Join(faults, "\n"), http.StatusServiceUnavailable)
}
