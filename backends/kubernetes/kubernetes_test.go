package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

var pinned = "registry.example/sandbox@sha256:" + strings.Repeat("0", 64)

// before is a backend whose cluster answers as told.
func before(t *testing.T, answer http.HandlerFunc, change ...func(*Config)) *Backend {
	t.Helper()
	cfg := Defaults()
	cfg.Image, cfg.RunnerImage = pinned, pinned
	if answer != nil {
		server := httptest.NewTLSServer(answer)
		t.Cleanup(server.Close)
		cfg.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
		backendtest.Must(t, os.WriteFile(cfg.Kubeconfig, fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: c,
  clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}], users: [{name: c, user: {token: secret}}],
  contexts: [{name: c, context: {cluster: c, user: c}}]}`, server.URL), 0o600))
	}
	for _, f := range change {
		f(cfg)
	}
	b, err := New(*cfg)
	backendtest.Must(t, err)
	return b
}

// said is what a part of a pod's description says.
func said(t *testing.T, value any, path ...any) any {
	t.Helper()
	text, err := json.Marshal(value)
	backendtest.Must(t, err)
	var at any
	backendtest.Must(t, json.Unmarshal(text, &at))
	for _, step := range path {
		switch step := step.(type) {
		case string:
			at = at.(map[string]any)[step]
		case int:
			at = at.([]any)[step]
		}
	}
	return at
}

func TestAPodIsConfined(t *testing.T) {
	b := before(t, nil, func(c *Config) { c.OwnerConfigMap, c.OwnerUID = "bailiff", "uid" })
	of := spec
	of.DiskMB, of.Expires = 64, time.Now().Add(time.Hour)
	p := b.pod("bailiff-x", "claim", pinned, of)
	for _, c := range []struct {
		want any
		path []any
	}{
		{false, []any{"spec", "automountServiceAccountToken"}},
		{false, []any{"spec", "enableServiceLinks"}},
		{"Never", []any{"spec", "restartPolicy"}},
		{"RuntimeDefault", []any{"spec", "securityContext", "seccompProfile", "type"}},
		{true, []any{"spec", "containers", 0, "securityContext", "runAsNonRoot"}},
		{true, []any{"spec", "containers", 0, "securityContext", "readOnlyRootFilesystem"}},
		{false, []any{"spec", "containers", 0, "securityContext", "allowPrivilegeEscalation"}},
		{"ALL", []any{"spec", "containers", 0, "securityContext", "capabilities", "drop", 0}},
		{nil, []any{"spec", "containers", 0, "securityContext", "capabilities", "add"}},
		{nil, []any{"spec", "containers", 0, "env"}},
		{"512Mi", []any{"spec", "containers", 0, "resources", "limits", "memory"}},
		{"1000m", []any{"spec", "containers", 0, "resources", "limits", "cpu"}},
		{"NET_ADMIN", []any{"spec", "initContainers", 0, "securityContext", "capabilities", "add", 0}},
		{"severed", []any{"spec", "initContainers", 1, "command", 2}},
		{nil, []any{"spec", "initContainers", 1, "securityContext", "capabilities", "add"}},
		{"bailiff", []any{"metadata", "ownerReferences", 0, "name"}},
		{backends.Digest("session"), []any{"metadata", "labels", ofSession}},
	} {
		if got := said(t, p, c.path...); got != c.want {
			t.Errorf("%v is %v, want %v", c.path, got, c.want)
		}
	}
	if seconds := said(t, p, "spec", "activeDeadlineSeconds").(float64); seconds > 3600 || seconds < 3000 {
		t.Errorf("the kubelet ends it after %v seconds, want those until it expires", seconds)
	}
}

func TestWhatNoPodCanBeIsRefusedByTheFieldsName(t *testing.T) {
	b := before(t, nil)
	for field, change := range map[string]func(*backends.Spec){
		"network": func(s *backends.Spec) { s.Network = "full" },
		"runtime": func(s *backends.Spec) { s.Runtime = "kata" },
		"mounts":  func(s *backends.Spec) { s.Mounts = []bailiff.Mount{{Source: "/srv", Target: "/srv"}} },
		"disk_mb": func(s *backends.Spec) { s.DiskMB, s.ReadOnly = 64, false },
		"pids":    func(s *backends.Spec) { s.PIDs = 10 },
		"image":   func(s *backends.Spec) { s.Image = "debian:12" },
	} {
		of := spec
		change(&of)
		err := b.permitted(of)
		if field == "image" {
			_, err = b.Resolve(t.Context(), of.Image)
		}
		if !errors.Is(err, backends.ErrUnsupported) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v, want an error that wraps ErrUnsupported and names it", field, err)
		}
	}
}

func TestWhatTheClusterIsTooBusyForIsAskedAgain(t *testing.T) {
	var asked atomic.Int32
	b := before(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, `{"items": []}`)
	})
	if err := b.Ready(t.Context()); err != nil || asked.Load() != 2 {
		t.Errorf("after %d requests: %v, want two and no error", asked.Load(), err)
	}
}

func TestAClusterThatRefusesSaysWhy(t *testing.T) {
	b := before(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind": "Status", "message": "pods is forbidden\u001b[31m"}`)
	})
	_, err := b.Open(t.Context(), spec)
	if !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), "403: pods is forbidden") ||
		strings.Contains(err.Error(), "\x1b") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v, want one line that says that pods is forbidden", err)
	}
}

func TestAPodThatIsGoneIsNoFaultOfItsRemoval(t *testing.T) {
	b := before(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	if err := b.remove(t.Context(), "bailiff-x"); err != nil {
		t.Error(err)
	}
	if err := b.RemoveWorkspace(t.Context(), "owner", "workspace"); err != nil {
		t.Error(err)
	}
}

func TestAQuantityIsTheSameInEveryUnit(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]bool{{"1Gi", "1024Mi"}: true, {"1536Mi", "1536Mi"}: true, {"1Gi", "1000Mi"}: false,
		{"", "1Mi"}: false} {
		if isSame(pair[0], pair[1]) != want {
			t.Errorf("%s and %s: want %v", pair[0], pair[1], want)
		}
	}
}
