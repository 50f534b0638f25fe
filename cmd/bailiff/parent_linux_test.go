package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

func TestACommandEndsWithTheProgramWhoseShellOrderedIt(t *testing.T) {
	_, err := exec.LookPath("python3")
	backendtest.Needs(t, "PYTHON", err)
	s := apptest.Serve(t)
	order := filepath.Join(apptest.Programs(t), "bailiff") + " exec --end-with-parent --listen " + s.Agent + " -- 'sleep 1000'; true"
	agent := exec.Command("python3", "-c", "import subprocess, sys; subprocess.run(['sh', '-c', sys.argv[1]])", order)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	s.Busy(t, 1)
	_ = agent.Process.Kill()
	_ = agent.Wait()
	s.Busy(t, 0)
}

func TestACommandEndsWithItsClient(t *testing.T) {
	python, err := exec.LookPath("python3")
	backendtest.Needs(t, "PYTHON", err)
	s := apptest.Serve(t)
	for name, words := range map[string][]string{
		"in Go":     {filepath.Join(apptest.Programs(t), "bailiff"), "exec", "--listen", s.Agent, "--", "sleep 1000"},
		"in Python": {python, filepath.Join(apptest.Root(t), "examples", "python", "ask.py"), "--listen", s.Agent, "sleep 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			agent := exec.Command(words[0], words[1:]...)
			backendtest.Must(t, agent.Start())
			s.Busy(t, 1)
			_ = agent.Process.Kill()
			_ = agent.Wait()
			s.Busy(t, 0)
		})
	}
}
