package app

import (
	"context"
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/network/egress"
	"github.com/bailiff-dev/bailiff/metrics"
)

// fullLog takes no event.
type fullLog struct{}

func (fullLog) Record(context.Context, egress.Event) error { return errors.New("the disk is full") }

func withoutSessions(s api.EgressStatus) api.EgressStatus {
	s.Sessions = nil
	return s
}

func TestAConnectionIsCountedAsWhatItsRecordCameTo(t *testing.T) {
	t.Parallel()
	registry := metrics.NewRegistry()
	log := countedEvents{fullLog{}, metrics.New(registry, metrics.Config{Backends: []string{"docker"}}), new(egressTotals)}
	of := bailiff.Connection{Backend: "docker"}
	for _, e := range []egress.Event{
		{What: egress.Opened, Connection: of}, {What: egress.Refused, Connection: of, Rule: "a.b"},
		{What: egress.Closed, Connection: of, Sent: 3, Received: 4},
	} {
		if err := log.Record(t.Context(), e); err == nil {
			t.Errorf("an event %s is said to be written down", e.What)
		}
	}
	if got, want := log.totals.status(), (api.EgressStatus{Sent: 3, Received: 4}); got.Sessions == nil ||
		!reflect.DeepEqual(withoutSessions(got), want) {
		t.Errorf("the status says %+v, want %+v", got, want)
	}
	w := httptest.NewRecorder()
	metrics.Handler(registry).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	page := w.Body.String()
	for _, line := range []string{
		`connections_total{backend="docker",outcome="opened"} 0`, `connections_total{backend="docker",outcome="refused"} 0`,
		`connections_total{backend="docker",outcome="unavailable"} 2`, `sent_bytes_total 3`, `received_bytes_total 4`,
	} {
		if !strings.Contains(page, "\nbailiff_egress_"+line+"\n") {
			t.Errorf("the metrics do not say %s", line)
		}
	}
}
