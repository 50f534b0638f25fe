package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/agents/setup"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// follow has a sidecar that runs take over what was written, and says whether one does. A sandbox that shows other folders than
// are shown now ends, with what runs in it, and nothing else does.
func (r *setupRun) follow(ctx context.Context, s *setup.Survey) (follows bool, err error) {
	if r.needsRestart || !isServed(ctx, s.File) {
		return false, nil
	}
	if r.remove { // no sandbox is made while the policies show a folder that the configuration allows no longer
		err = r.awaitPolicies(ctx, s)
	}
	if hangUp(ctx, s.File) != nil {
		return false, err
	}
	if !r.remove {
		err = r.awaitPolicies(ctx, s)
	}
	return true, err
}

// hangUp has the sidecar read its configuration again, which is the process that serves its operators.
func hangUp(ctx context.Context, file string) error {
	cfg, err := offline.LoadConfig(file)
	if err != nil {
		return err
	}
	if cfg.Operator.Listen.Network != "unix" {
		return fmt.Errorf("the sidecar is told to read its configuration again over a socket only, and %s is none", cfg.Operator.Listen)
	}
	pid, err := gateway.ServerPID(ctx, cfg.Operator.Listen.Address)
	if err != nil {
		return err
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if program := strings.TrimSpace(string(name)); err == nil && program != "bailiff" {
		return fmt.Errorf("%s is served by %q, which hands it on and would end at SIGHUP", cfg.Operator.Listen, program)
	}
	return syscall.Kill(pid, syscall.SIGHUP)
}

// awaitPolicies waits until the sidecar has the policies in force that are written.
func (r *setupRun) awaitPolicies(ctx context.Context, s *setup.Survey) error {
	cfg, err := offline.LoadConfig(s.File)
	if err != nil {
		return err
	}
	want, err := source.RevisionOf(cfg.Policies.Paths)
	if err != nil {
		return fmt.Errorf("reading the policies: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for told := false; ; told = true {
		p, err := policiesOf(ctx, s.File)
		switch {
		case err == nil && (p.Revision == want || p.Waiting == want):
			return nil
		case err == nil && len(p.Faults) > 0 && p.Reloaded.After(r.written):
			faults := p.Faults[:min(len(p.Faults), mostListed)]
			return fmt.Errorf("the sidecar does not take the policies over: %s", strings.Join(faults, "; "))
		}
		if !told {
			r.say("The sidecar that runs takes it over. %s", testsFirst)
		}
		select {
		case <-ctx.Done():
			return errors.New("the sidecar has not taken the policies over yet: bailiff status says why")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func policiesOf(ctx context.Context, file string) (api.PolicyStatus, error) {
	operator, err := cli.SocketClient(io.Discard, file)
	if err != nil {
		return api.PolicyStatus{}, err
	}
	s, err := operator.Status(ctx)
	return s.Policies, err
}
