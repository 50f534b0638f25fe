package docker

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

func TestConfigurationsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		says string
	}{
		{"no runner", Config{}, "bailiff-runner"},
		{"root", Config{Runner: "r", User: "0:0"}, "not root"},
		{"root's group", Config{Runner: "r", User: "1000:0"}, "not root"},
		{"a user by name", Config{Runner: "r", User: "nobody:nogroup"}, "numeric uid:gid"},
		{"a lack that cannot be accepted", Config{Runner: "r", AcceptMissing: []string{"network"}}, `"network"`},
		{"a runtime by its path", Config{Runner: "r", Runtime: "/usr/bin/runsc"}, "docker info"},
		{"an allowed runtime that is an option", Config{Runner: "r", RuntimesAllowed: []string{"--runsc"}}, "docker info"},
		{"an address that is none", Config{Runner: "r", Host: "nonsense"}, "nonsense"},
		{"an address by ssh of nobody", Config{Runner: "r", Host: "ssh://host", SSH: settings.SSH{Agent: "a", KnownHosts: []string{"k"}}},
			"user@name"},
		{"an address by ssh without a key", Config{Runner: "r", Host: "ssh://ana@host", SSH: settings.SSH{KnownHosts: []string{"k"}}},
			"lacks a key or an agent (set it in ssh)"},
		{"a port without a number", Config{Runner: "r", Host: "tcp://engine"}, "tcp://engine"},
		{"certificates for a socket", Config{Runner: "r", Host: "unix:///sock", TLS: TLS{CA: "c"}}, "tls is for"},
		{"a key of ssh for a port", Config{Runner: "r", Host: "tcp://127.0.0.1:1", SSH: settings.SSH{Keys: []string{"k"}}}, "ssh is for"},
		{"half of a certificate", Config{Runner: "r", Host: "tcp://engine:2376", TLS: TLS{Cert: "c"}}, "want both"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := New(c.cfg); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("New says %v, want it to speak of %q", err, c.says)
			}
		})
	}
}

func TestAPasswordInTheAddressIsNotTakenAndNotRepeated(t *testing.T) {
	for _, host := range []string{"ssh://root:s3cret@h", "tcp://user:s3cret@h:2376", "user:s3cret@h", "http://user:s3cret@h",
		"ssh://root:s3c/s3cret@h"} {
		t.Setenv("DOCKER_HOST", host)
		for kind, err := range map[string]error{"setting": isEngine(host), "variable": Defaults().Check()} {
			if err == nil || !strings.Contains(err.Error(), "log in by key") || strings.Contains(err.Error(), "s3c") {
				t.Errorf("of %s as a %s it says %v", host, kind, err)
			}
		}
	}
	if err := isEngine("ssh://root@h"); err != nil {
		t.Errorf("a user alone is refused: %v", err)
	}
}

func TestWithoutAnEngine(t *testing.T) {
	b, err := New(Config{Runner: "config_test.go", Image: testImage, Host: "unix:///nowhere/engine.sock"})
	backendtest.Must(t, err)
	_, resolving := b.Resolve(t.Context(), "")
	_, sweeping := b.Sweep(t.Context(), "x", keepNone)
	_, opening := b.Open(t.Context(), testSpec(t))
	for what, err := range map[string]error{"Ready": b.Ready(t.Context()), "Open": opening, "Resolve": resolving,
		"Sweep": sweeping, "RemoveWorkspace": b.RemoveWorkspace(t.Context(), "x", "y")} {
		backendtest.Fault(t, err, backends.ErrUnavailable, "unix:///nowhere/engine.sock: start it")
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s says more than one line: %q", what, err)
		}
	}
}
