package app

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/metrics"
)

// openMetrics opens the page for Prometheus and for probes of the process.
func (a *App) openMetrics() error {
	if a.cfg.Metrics.Listen == "" {
		return nil
	}
	if err := a.openProbes(); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		a.metrics.Show(a.state())
		a.page.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /healthz", alive)
	mux.HandleFunc("GET /readyz", a.readyz)
	a.probes.page.Store(mux)
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

func (a *App) readyz(w http.ResponseWriter, _ *http.Request) {
	faults := a.faults()
	if len(faults) == 0 {
		fmt.Fprintln(w, "ready")
		return
	}
	http.Error(w, strings.Join(faults, "\n"), http.StatusServiceUnavailable)
}
