package ssh_test

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/backends/ssh"
	"github.com/bailiff-dev/bailiff/internal/config"
)

func TestTheSectionIsRead(t *testing.T) {
	t.Setenv("HOME", "/home/ana")
	cfg, err := config.Parse("/etc/bailiff/bailiff.yaml", []byte(`backends:
  ssh:
    host: bailiff@build.example:2222
    jump: ana@gate.example
    keys: [~/.ssh/id_ed25519]
    agent: /run/agent.sock
    trust_on_first_use: true
    keepalive: 10s
    folder: /srv/bailiff
    sandbox: bubblewrap
    root: /srv/debian
    accept_missing_limits: [cpus]
    mounts_allowed: [/srv/projects]
`), catalogue.All())
	backendtest.Must(t, err)
	got := cfg.Backends["ssh"].(*ssh.Config)
	if got.Host != "bailiff@build.example:2222" || got.Jump != "ana@gate.example" || got.Keys[0] != "/home/ana/.ssh/id_ed25519" ||
		!got.TrustFirst ||
		got.KnownHosts[0] != "/home/ana/.ssh/known_hosts" || got.Inside.Root != "/srv/debian" ||
		got.Inside.MountsAllowed[0] != "/srv/projects" {
		t.Errorf("it was read as %+v", got)
	}
	if _, err := got.Make(backends.Host{Runner: "/usr/local/bin/bailiff-runner", StateDir: "/var/lib/bailiff/ssh"}); err != nil ||
		!got.Isolated() {
		t.Errorf("isolated is %t, and making it says %v", got.Isolated(), err)
	}
}

func TestWhatASectionSaysInVainIsRefused(t *testing.T) {
	for section, fault := range map[string]string{
		`{}`:                                                                      "host is missing",
		`{host: a@b}`:                                                             "keys and agent are missing",
		`{host: b, keys: [k]}`:                                                    "want user@name",
		`{host: a@b, jump: b, keys: [k]}`:                                         "want user@name",
		`{host: "a:s3cret@b", keys: [k]}`:                                         "log in by key",
		`{host: a@b@c, keys: [k]}`:                                                "want user@name",
		`{host: "a@b\u0007", keys: [k]}`:                                          "want user@name",
		`{host: a@b, jump: "a@b:22", keys: [k]}`:                                  "the host itself",
		`{host: a@b, keys: [k], agent: $SSH_AUTH_SOCK}`:                           "variables are not expanded",
		`{host: a@b, keys: [k], sandbox: docker}`:                                 "bubblewrap",
		`{host: a@b, keys: [k], folder: here}`:                                    "want the absolute path of a folder on the host",
		`{host: a@b, keys: [k], folder: /}`:                                       "want the absolute path of a folder on the host",
		`{host: a@b, keys: [k], keepalive: 1s}`:                                   "keepalive",
		`{host: a@b, keys: [k], root: /srv}`:                                      "are for sandbox: bubblewrap",
		`{host: a@b, keys: [k], mounts_allowed: [/srv]}`:                          "are for sandbox: bubblewrap",
		`{host: a@b, keys: [k], accept_missing_limits: [cpus]}`:                   "are for sandbox: bubblewrap",
		`{host: a@b, keys: [k], sandbox: bubblewrap, workdir: /x}`:                "workdir is for commands on the host itself",
		`{host: a@b, keys: [k], sandbox: bubblewrap, mounts_allowed: [projects]}`: "absolute path",
		`{host: a@b, keys: [k], sandbox: bubblewrap, mounts_allowed: [/]}`:        "folder",
	} {
		if _, err := config.Parse("/etc/bailiff/bailiff.yaml", []byte("backends:\n  ssh: "+section+"\n"), catalogue.All()); err == nil ||
			!strings.Contains(err.Error(), fault) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s is refused with %v, want an error that says %q", section, err, fault)
		}
	}
}

func TestWithoutASandboxNothingIsPromised(t *testing.T) {
	b, err := (&ssh.Config{Host: "a@b", SSH: settings.SSH{Keys: []string{"/k"}, KnownHosts: []string{"/h"}},
		Runner: backendtest.Runner(t)}).Make(backends.Host{Runner: backendtest.Runner(t)})
	backendtest.Must(t, err)
	if b.Isolated() {
		t.Error("it says that commands are kept from the host")
	}
	if _, keeps := b.(backends.Keeper); keeps {
		t.Error("it says that it keeps workspaces")
	}
	wanted := spec
	wanted.Network = "none"
	if _, err := b.Open(t.Context(), wanted); err == nil || !strings.Contains(err.Error(), "on the ssh backend network must be") {
		t.Errorf("without a network the error is %v", err)
	}
}
