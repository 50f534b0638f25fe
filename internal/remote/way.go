package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bailiff-dev/bailiff/internal/settings"
)

// Way is how a host is reached, as a section of bailiff.yaml says it.
type Way struct {
	// Keys, Agent, KnownHosts and KeepAlive are those of [Config], for the host on the
	// way too.
	Keys       []string
	Agent      string
	KnownHosts []string
	KeepAlive  time.Duration
	// TrustFirst has a host that is not known trusted when it is first met.
	TrustFirst bool
	// Jump is a host on the way, as user@name or user@name:port; empty means none.
	Jump string
}

// Usual knows the hosts that the ssh command knows.
func Usual() Way {
	w := Way{KnownHosts: []string{"/etc/ssh/ssh_known_hosts"}}
	if home, err := os.UserHomeDir(); err == nil {
		w.KnownHosts = append([]string{filepath.Join(home, ".ssh", "known_hosts")}, w.KnownHosts...)
	}
	return w
}

// Settings are the keys of the section.
func (w *Way) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "keys", Into: &w.Keys, Path: true, Present: isKey},
		{Key: "agent", Into: &w.Agent, Path: true, Present: settings.IsThere},
		{Key: "known_hosts", Into: &w.KnownHosts, Path: true, Present: isKnownHosts},
		{Key: "trust_on_first_use", Into: &w.TrustFirst},
		{Key: "jump", Into: &w.Jump, Check: IsHost},
		{Key: "keepalive", Into: &w.KeepAlive, Least: 2, Most: 600},
	}
}

// IsHost checks a setting that names a host.
func IsHost(value string) error {
	_, _, err := Parse(value)
	return err
}

// Says tells whether the section says more than which hosts are known.
func (w Way) Says() bool {
	return len(w.Keys) > 0 || w.Agent != "" || w.Jump != "" || w.TrustFirst || w.KeepAlive != 0
}

// To is the host that user@name or user@name:port means. A host that is trusted when
// it is first met is noted in the folder. It talks to nobody yet.
func (w Way) To(host, folder string) (*Host, error) {
	cfg, err := w.config(host, folder)
	if err == nil && w.Jump != "" {
		var jump Config
		jump, err = w.config(w.Jump, folder)
		cfg.Jump = &jump
	}
	if err != nil {
		return nil, fmt.Errorf("reading the address of a host: %w", err)
	}
	return New(cfg)
}

func (w Way) config(host, folder string) (Config, error) {
	user, address, err := Parse(host)
	cfg := Config{Address: address, User: user, Keys: w.Keys, Agent: w.Agent, KnownHosts: w.KnownHosts, KeepAlive: w.KeepAlive}
	if w.TrustFirst {
		cfg.TrustFirst = filepath.Join(folder, "known_hosts")
	}
	return cfg, err
}
