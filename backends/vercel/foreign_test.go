package vercel

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

// hostile is a backend whose Vercel is a server of the test's.
func hostile(t *testing.T, serve http.HandlerFunc) *Backend {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	t.Setenv("HOSTILE_TOKEN", "tok-123-of-the-team")
	b, err := New(Config{Token: settings.Credential{Env: "HOSTILE_TOKEN"}, Team: "t", Project: "p", Image: "i", Endpoint: server.URL,
		Runner: "/bin/true", Log: slog.New(slog.DiscardHandler)})
	backendtest.Must(t, err)
	return b
}

func TestWhatVercelSaysIsOneHarmlessLineWithoutTheToken(t *testing.T) {
	b := hostile(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"error": {"code": "no", "message": "a\u001b]0;owned\u0007\nlevel=INFO `+r.Header.Get("Authorization")+`"}}`,
			http.StatusUnauthorized)
	})
	err := b.Ready(t.Context())
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\a\n") || strings.Contains(err.Error(), "tok-123-of-the-team") ||
		!strings.Contains(err.Error(), "Bearer [secret]") {
		t.Errorf("the fault is %q", err)
	}
}

func TestAListWithoutEndIsAFault(t *testing.T) {
	asked := 0
	for next, want := range map[string]string{`""`: "", `"again"`: "no end"} {
		b := hostile(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			_, _ = w.Write([]byte(`{"sandboxes": [{"name": "bailiff-x"}], "drives": [], "pagination": {"next": ` + next + `}}`))
		})
		asked = 0
		_, err := b.Sweep(t.Context(), "me", func(string) bool { return true })
		if asked > 1000 || (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("after %s it asked %d times and says %v", next, asked, err)
		}
	}
}
