package apptest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

func TestASidecarServesUntilItIsStoppedOrKilled(t *testing.T) {
	s := Serve(t)
	ask := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "echo hi"},
		Session: bailiff.Session{ID: "s1", Platform: "telegram", UserID: "42"}}
	for range 2 {
		answer, err := s.Client(t).Execute(t.Context(), ask, client.News{})
		if err != nil || answer.Status != bailiff.Completed || answer.Output != "hi\n" {
			t.Fatalf("it answered %+v, %v", answer, err)
		}
		s.Kill()
		if _, err := s.Client(t).Execute(t.Context(), ask, client.News{}); err == nil {
			t.Error("a dead sidecar answered")
		}
		s.Start(t)
	}
}

func TestNoBrokenSidecarAnswers(t *testing.T) {
	for _, broken := range BrokenSidecars() {
		for _, network := range []string{"unix", "tcp"} {
			t.Run(broken.Name+" by "+network, func(t *testing.T) {
				c, err := client.New(broken.Open(t, network), bailiff.Secret{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				if answer, err := c.Execute(ctx, bailiff.Request{Tool: bailiff.Terminal}, client.News{}); err == nil {
					t.Errorf("it answered %+v", answer)
				}
			})
		}
	}
}

func TestTheClientsFromNpmAreTheirOwnPrograms(t *testing.T) {
	for program, version := range map[string]string{
		"codex": "codex-cli 0.169.0", "claude": "2.1.329 (Claude Code)", "opencode": "1.18.33", "mcporter": "0.12.3",
	} {
		command := exec.Command(Client(t, program), "--version")
		command.Env = append(os.Environ(), "HOME="+t.TempDir())
		if printed, err := command.Output(); err != nil || strings.TrimSpace(string(printed)) != version {
			t.Errorf("%s says %q (%v), not %q", program, printed, err, version)
		}
	}
}
