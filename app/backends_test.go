package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// held is a backend that holds something open.
type held struct {
	backends.Backend
	closed bool
	fault  error
}

func (h *held) Close() error {
	h.closed = true
	return h.fault
}

func TestWhateverABackendHoldsOpenIsClosedAtTheEnd(t *testing.T) {
	t.Parallel()
	well, ill := new(held), &held{fault: errors.New("stuck")}
	c := &core{backends: map[string]backends.Backend{"well": well, "ill": ill, "bare": struct{ backends.Backend }{}},
		release: func() error { return nil }}
	if err := c.releaseAll(); err == nil || !strings.Contains(err.Error(), "closing backend ill: stuck") ||
		strings.Contains(err.Error(), "well") {
		t.Errorf("the end says %v", err)
	}
	if !well.closed || !ill.closed {
		t.Error("a backend was left open")
	}
}

// section is one that notes what its backend is given.
type section struct {
	backends.Maker
	in backends.Host
}

func (s *section) Make(in backends.Host) (backends.Backend, error) {
	s.in = in
	return nil, nil
}

// Where others may serve its sessions, what a sidecar runs ends when nothing is heard of it, and nowhere else.
func TestSandboxesEndWithoutTheirSidecarsWordWhereOthersServeItsSessions(t *testing.T) {
	t.Parallel()
	alone, shared := &section{}, &section{}
	for one, dsn := range map[*section]settings.Credential{alone: {}, shared: {Env: "DSN"}} {
		cfg := &config.Config{Backends: map[string]backends.Maker{"any": one}}
		cfg.Runner.Path, cfg.Store.Postgres.DSN = backendtest.Runner(t), dsn
		if _, err := (&core{cfg: cfg}).newBackends(); err != nil {
			t.Fatal(err)
		}
	}
	if alone.in.Silence != 0 || shared.in.Silence != runner.Silence {
		t.Errorf("sandboxes end after a silence of %v alone and %v in a fleet, want 0 and %v", alone.in.Silence,
			shared.in.Silence, runner.Silence)
	}
}
