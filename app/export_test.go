package app

import (
	"bufio"
	"compress/gzip"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestTheDecisionLogIsExportedAsConfigured(t *testing.T) {
	folder := openDir(t)
	var status atomic.Int64
	var reloads atomic.Int64 // events of one
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := gzip.NewReader(r.Body); err == nil && r.Header.Get("Authorization") == "Bearer sesame-4711-and-more" {
			text, _ := io.ReadAll(body)
			reloads.Add(int64(strings.Count(string(text), `"event":"reload"`)))
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer receiver.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw})
	must(t, os.WriteFile(filepath.Join(folder, "ca.pem"), certificate, 0o600))
	t.Setenv("LOGS_TOKEN", "sesame-4711-and-more")
	status.Store(http.StatusForbidden)
	s, err := tryStart(t, folder, "backends: {bubblewrap: {}}",
		`decision_log: {export: {url: "`+receiver.URL+`/logs", token: {env: LOGS_TOKEN}, ca_file: ca.pem}}`)
	must(t, err)
	warned := func() bool {
		return strings.Contains(strings.Join(s.Status(t.Context()).Warnings, "\n"),
			"the decision log is not exported, and waits in its files: the receiver of the decision log answered 403")
	}
	awaittest.Until(t, "the failure to be told", warned)
	if s.state().ExportLag <= 0 {
		t.Error("the metrics show no lag")
	}
	status.Store(http.StatusOK)
	awaittest.Until(t, "the log to be sent", func() bool { return !warned() && s.state().ExportLag == 0 })
	if reloads.Load() == 0 {
		t.Error("the receiver got no event of the start")
	}
	if credentials := s.cfg.Credentials(); len(credentials) != 1 || credentials[0] != "LOGS_TOKEN" {
		t.Errorf("variables that no request gets are %v, want LOGS_TOKEN", credentials)
	}
	next := *s.cfg
	next.DecisionLog.Export = config.Export{}
	if waiting, err := s.reload(t.Context(), &next); err != nil || len(waiting) != 1 || waiting[0] != "decision_log.export" {
		t.Errorf("waiting for a restart are %v, %v", waiting, err)
	}
}

func TestTheDecisionLogIsSentBySyslogAsConfigured(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	s := startSidecar(t, "backends: {bubblewrap: {}}", everything(t, "bubblewrap", ""), `decision_log: {syslog: {address: "tcp://`+
		listener.Addr().String()+`", format: ocsf}}`)
	conn, err := listener.Accept()
	must(t, err)
	defer conn.Close()
	length, err := bufio.NewReader(conn).ReadString('{')
	must(t, err)
	if !strings.Contains(length, " <110>1 20") || !strings.HasSuffix(length, " reload - {") {
		t.Errorf("the first message begins with %q", length)
	}
	awaittest.Until(t, "all to be sent", func() bool { return s.state().SyslogLag == 0 })
	if needed := s.exporters.oldestNeeded(); needed != "0" {
		t.Errorf("needed is all from %s, though nothing of it is known to have come", needed)
	}
	next := *s.cfg
	next.DecisionLog.Syslog = config.Syslog{}
	if waiting, err := s.reload(t.Context(), &next); err != nil || len(waiting) != 1 || waiting[0] != "decision_log.syslog" {
		t.Errorf("waiting for a restart are %v, %v", waiting, err)
	}
}
