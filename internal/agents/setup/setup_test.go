package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/config"
)

func TestSystemdFindsNoFaultWithTheUsersUnit(t *testing.T) {
	analyzer, err := exec.LookPath("systemd-analyze")
	backendtest.Needs(t, "SYSTEMD-ANALYZE (run scripts/install-deps)", err)
	folder := filepath.Join(t.TempDir(), "100% own")
	backendtest.Must(t, os.MkdirAll(folder, 0o755))
	backendtest.Must(t, os.WriteFile(filepath.Join(folder, "bailiff"), []byte("#!/bin/sh\n"), 0o755))
	s := &Survey{File: filepath.Join(folder, "a \"b\" $x.yaml"), in: Config{Programs: folder}}
	path := filepath.Join(t.TempDir(), unitName)
	backendtest.Must(t, os.WriteFile(path, []byte(s.unit()), 0o600))
	if said, err := exec.Command(analyzer, "verify", "--man=no", "--recursive-errors=no", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, said, s.unit())
	}
}

func TestTheServiceIsThatOfTheConfigurationWhichItsUnitNames(t *testing.T) {
	home := t.TempDir()
	own := &Survey{File: filepath.Join(home, "b.yaml"), in: Config{Programs: "/usr/bin", Home: home}}
	other := &Survey{File: filepath.Join(home, `100% "of" $b.yaml.old`), in: own.in}
	unit := filepath.Join(home, ".config", "systemd", "user", unitName)
	backendtest.Must(t, os.MkdirAll(filepath.Dir(unit), 0o755))
	unmarked := strings.TrimPrefix(own.unit(), unitMark)
	for text, is := range map[string]bool{own.unit(): true, other.unit(): false, unmarked: false, "": false} {
		backendtest.Must(t, os.WriteFile(unit, []byte(text), 0o600))
		if own.IsService() != is {
			t.Errorf("it is %v that the service of %s has\n%s", !is, own.File, text)
		}
		wants := map[string]string{other.unit(): other.File}[text]
		if got := own.OtherService(); got != wants {
			t.Errorf("the service's other configuration is %q, want %q", got, wants)
		}
		if c, err := own.ServiceChange(); err != nil || (c.After != own.unit()) != (text == other.unit() || text == unmarked) {
			t.Errorf("the unit becomes %s, %v", c.After, err)
		}
	}
}

func TestASidecarIsNeededByAllThatComesToIt(t *testing.T) {
	for want, change := range map[string]func(*config.Config){
		"":                   func(*config.Config) {},
		"the listener chats": func(c *config.Config) { c.Agent.Listeners = append(c.Agent.Listeners, config.Listener{Name: "chats"}) },
		"the chat matrix":    func(c *config.Config) { c.Chat.Matrix = &config.Matrix{} },
		"the chat webhook":   func(c *config.Config) { c.Chat.Webhook = &config.Webhook{} },
		"the sidecars that reach it by store.peer": func(c *config.Config) { c.Store.Peer.Listen = "127.0.0.1:8655" },
	} {
		s := &Survey{cfg: &config.Config{}, in: Config{Agent: "codex", Programs: "/usr/local/bin", Home: t.TempDir(),
			Getenv: func(string) string { return "" }}}
		s.cfg.Agent.Listeners = []config.Listener{{Name: "agent", Listen: config.Address{Network: "unix", Address: "/run/a.sock"},
			Platforms: []string{"cli"}}}
		change(s.cfg)
		if needs := strings.Join(s.Serves(), ", "); needs != want {
			t.Errorf("it is needed for %q, want %q", needs, want)
		}
	}
}
