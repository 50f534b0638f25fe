package remote_test

import (
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/backends/docker"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/backends/ssh"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/network/remote"
	"github.com/bailiff-dev/bailiff/internal/network/remote/remotetest"
)

func TestAWayToAHostIsSaidAlikeInEverySection(t *testing.T) {
	t.Setenv("HOME", "/home/ana")
	cfg, err := config.Parse("/etc/bailiff/bailiff.yaml", []byte(`backends:
  ssh: {host: ana@build, keys: [key], agent: /agent, trust_on_first_use: true, jump: ana@gate, keepalive: 10s}
  docker:
    host: ssh://ana@build
    ssh: {keys: [key], agent: /agent, trust_on_first_use: true, jump: ana@gate, keepalive: 10s}
`), catalogue.All())
	must(t, err)
	for name, way := range map[string]settings.SSH{"ssh": cfg.Backends["ssh"].(*ssh.Config).SSH,
		"docker": cfg.Backends["docker"].(*docker.Config).SSH} {
		if way.Keys[0] != "/etc/bailiff/key" || way.Agent != "/agent" || !way.TrustFirst || way.Jump != "ana@gate" ||
			way.KeepAlive != 10*time.Second ||
			len(way.KnownHosts) != 2 || way.KnownHosts[0] != "/home/ana/.ssh/known_hosts" {
			t.Errorf("the section %s was read as %+v", name, way)
		}
	}
}

func TestWhatLogsInPassesACheck(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	cfg := server.Config(server.User(t))
	says(t, host(t, cfg), "true")
	for _, s := range remote.Settings(&settings.SSH{}) {
		for _, path := range map[string][]string{"keys": cfg.Keys, "known_hosts": cfg.KnownHosts}[s.Key] {
			if err := s.Present(path); err != nil {
				t.Errorf("of %s it says %v", s.Key, err)
			}
		}
	}
}
