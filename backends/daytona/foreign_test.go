package daytona

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

// hostile is a backend whose Daytona is a server of the test's.
func hostile(t *testing.T, serve http.HandlerFunc) *Backend {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	t.Setenv("HOSTILE_KEY", "dtn-123-of-the-team")
	cfg := Defaults()
	cfg.URL, cfg.APIKey = server.URL, settings.Credential{Env: "HOSTILE_KEY"}
	b, err := New(*cfg, backends.Host{Runner: "/bin/true", Log: slog.New(slog.DiscardHandler)})
	backendtest.Must(t, err)
	return b
}

func TestWhatDaytonaSaysIsOneHarmlessLineWithoutTheKey(t *testing.T) {
	b := hostile(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"message": "a\u001b]0;owned\u0007\nlevel=INFO `+r.Header.Get("Authorization")+`"}`, http.StatusUnauthorized)
	})
	err := b.Ready(t.Context())
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\a\n") || strings.Contains(err.Error(), "dtn-123-of-the-team") ||
		!strings.Contains(err.Error(), "Bearer [secret]") {
		t.Errorf("the fault is %q", err)
	}
}

func TestAListWithoutEndIsAFault(t *testing.T) {
	asked := 0
	b := hostile(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{"items": [{"id": "x"}], "nextCursor": "again"}`))
	})
	_, err := b.Sweep(t.Context(), "me", func(string) bool { return true })
	if err == nil || !strings.Contains(err.Error(), "no end") || asked > 1000 {
		t.Errorf("it asked %d times and says %v", asked, err)
	}
}
