package docker

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestWhatAnEngineSaysIsOneHarmlessLine(t *testing.T) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"message": "a\u001b]0;owned\u0007\nlevel=INFO msg=forged"}`)
	}))
	t.Cleanup(engine.Close)
	b, err := New(Config{Host: "tcp://" + engine.Listener.Addr().String(), Runner: "/bin/true", Log: slog.New(slog.DiscardHandler)})
	backendtest.Must(t, err)
	err = b.Ready(t.Context())
	if !errors.Is(err, backends.ErrUnavailable) || !strings.HasSuffix(err.Error(), "a]0;owned level=INFO msg=forged") {
		t.Errorf("the fault is %q", err)
	}
}
