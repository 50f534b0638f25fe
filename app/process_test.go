package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// TestMain lets the test binary be started as a sidecar.
func TestMain(m *testing.M) {
	// The policies of many sidecars are live at once: half of the processor time would go into looking at them again.
	debug.SetGCPercent(400)
	testscript.Main(m, map[string]func(){"sidecar": serveAlone})
}

// serveAlone is a sidecar in a process of its own: sidecar FILE.
func serveAlone() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := New(ctx, Config{File: os.Args[1], Version: "test", Log: os.Stderr})
	if err == nil {
		err = s.Run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process is a sidecar in a process of its own, that can be killed.
type process struct {
	agent, operator *client.Client
	config          string
	cmd             *exec.Cmd
	log             bytes.Buffer // to be read after the end
}

// launch starts one by a whole configuration and does not wait until it serves.
func launch(tb testing.TB, folder, text string) *process {
	tb.Helper()
	text = patient(text)
	p := &process{config: filepath.Join(folder, "bailiff.yaml")}
	cfg, err := config.Parse(p.config, []byte(text), catalogue.All())
	if err == nil {
		err = os.WriteFile(p.config, []byte(text), 0o600)
	}
	must(tb, err)
	p.agent, p.operator = clientOf(tb, cfg.Agent.Listeners[0].Listen.String()), clientOf(tb, cfg.Operator.Listen.String())
	p.cmd = exec.Command("sidecar", p.config)
	p.cmd.Stderr = &p.log
	must(tb, p.cmd.Start())
	tb.Cleanup(p.kill)
	return p
}

// patient gives the policies of a configuration the time that a busy machine needs.
func patient(text string) string {
	const section = "policies: {"
	if strings.Contains(text, section) {
		return strings.Replace(text, section, section+"eval_timeout: 10s, ", 1)
	}
	return text + "\n" + section + "eval_timeout: 10s}\n"
}

// awaitServing returns when the sidecar answers.
func (p *process) awaitServing(tb testing.TB) {
	tb.Helper()
	awaittest.Until(tb, "it serves", func() bool {
		_, err := p.operator.Status(tb.Context())
		return err == nil
	})
}

// kill ends it as nothing else could.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// pause stops the process where it is. On a busy machine threads that run go on for a while after the signal.
func (p *process) pause(tb testing.TB) {
	tb.Helper()
	must(tb, p.cmd.Process.Signal(syscall.SIGSTOP))
	awaittest.Until(tb, "all threads to stand still", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
		must(tb, err)
		return len(threads) > 0 && !slices.ContainsFunc(threads, func(stat string) bool {
			text, err := os.ReadFile(stat)
			return err != nil || !bytes.Contains(text[bytes.LastIndexByte(text, ')')+1:], []byte(" T "))
		})
	})
}

// stop ends it in order.
func (p *process) stop(tb testing.TB) {
	tb.Helper()
	if err := errors.Join(p.cmd.Process.Signal(syscall.SIGTERM), p.cmd.Wait()); err != nil {
		tb.Errorf("stopping it: %v\n%s", err, p.log.String())
	}
}
