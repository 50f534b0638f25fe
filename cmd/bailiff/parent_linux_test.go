package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/apptest"
)

// busy awaits that so many requests run in sandboxes.
func busy(t *testing.T, s *apptest.Sidecar, want int) {
	t.Helper()
	backendtest.Await(t, "so many requests run as should", func() bool {
		list, err := s.Operators(t).Sandboxes(t.Context())
		users := 0
		for _, sandbox := range list {
			users += sandbox.Users
		}
		return err == nil && users == want
	})
}

func TestACommandEndsWithTheProgramWhoseShellOrderedIt(t *testing.T) {
	_, err := exec.LookPath("python3")
	backendtest.Needs(t, "PYTHON", err)
	s := apptest.Serve(t)
	order := filepath.Join(apptest.Programs(t), "bailiff") + " exec --end-with-parent --listen " + s.Agent + " -- 'sleep 1000'; true"
	agent := exec.Command("python3", "-c", "import subprocess, sys; subprocess.run(['sh', '-c', sys.argv[1]])", order)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	busy(t, s, 1)
	_ = agent.Process.Kill()
	_ = agent.Wait()
	busy(t, s, 0)
}
