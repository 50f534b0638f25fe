package app

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// probed is what a page of a sidecar that may not serve yet says; empty where none answers.
func probed(t *testing.T, address, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	must(t, err)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.Status + " " + string(body)
}

// starting starts a sidecar, which is ready when its start returns.
func starting(t *testing.T, ctx context.Context, text string) <-chan error {
	t.Helper()
	cfg, err := config.Parse(filepath.Join(openDir(t), "bailiff.yaml"), []byte(text), catalogue.All())
	must(t, err)
	ended := make(chan error, 1)
	go func() {
		a, err := open(ctx, cfg, NewLog("error", "text", io.Discard), Config{Version: "test"})
		if err == nil {
			err = a.Run(ctx)
		}
		ended <- err
	}()
	return ended
}

func TestAStartWaitsForPostgreSQL(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	address, sockets := porttest.Address(t), openDir(t)
	text := strings.Join([]string{`state_dir: state
agent: {listeners: [{name: test, listen: "unix://` + sockets + `/a.sock", platforms: ["*"]}]}
operator: {listen: "unix://` + sockets + `/o.sock"}
metrics: {listen: "` + address + `"}
runner: {path: ` + backendtest.Runner(t) + `}
backends: {bubblewrap: {}}`, keepNoneReady, c.store(t, "one")}, "\n")
	c.server.Kill()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := starting(t, ctx, text)
	awaittest.Until(t, "the page to say why", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("the start ended with %v", err)
		default:
		}
		return strings.HasPrefix(probed(t, address, "/readyz"), "503 Service Unavailable starting: PostgreSQL: it does not answer")
	})
	if live, metrics := probed(t, address, "/healthz"), probed(t, address, "/metrics"); live != "200 OK ok\n" || !strings.HasPrefix(metrics,
		"503 ") {
		t.Errorf("while it waits /healthz says %q and /metrics %q", live, metrics)
	}
	c.server.Run(t)
	awaittest.Until(t, "it to be ready", func() bool { return probed(t, address, "/readyz") == "200 OK ready\n" })
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}

	c.server.Kill()
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	ended = starting(t, ctx, text)
	awaittest.Until(t, "another start to wait", func() bool { return strings.HasPrefix(probed(t, address, "/readyz"), "503 ") })
	cancel()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("a start that is told to stop ended with %v", err)
	}
	if said := probed(t, address, "/healthz"); said != "" {
		t.Errorf("its page is served still: %q", said)
	}
}

// What no waiting mends is told at once.
func TestAStartEndsWhereWaitingMendsNothing(t *testing.T) {
	t.Parallel()
	c := openDepot(t)
	c.server.Exec(t, "postgres", "ALTER DATABASE bailiff RENAME TO other")
	s, err := tryStart(t, openDir(t), "backends: {bubblewrap: {}}", c.store(t, "one"))
	if err == nil {
		s.stop()
	}
	if err == nil || !strings.Contains(err.Error(), `database "bailiff" does not exist`) {
		t.Errorf("the start ended with %v", err)
	}
}
