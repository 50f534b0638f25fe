package remote

import (
	"fmt"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/backends/settings"
)

// Settings are the keys of a section that says how a host is reached.
func Settings(w *settings.SSH) []settings.Setting {
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

// To is the host that user@name or user@name:port means. A host that is trusted when
// it is first met is noted in the folder. It does not connect yet.
func To(w settings.SSH, host, folder string) (*Host, error) {
	cfg, err := config(w, host, folder)
	if err == nil && w.Jump != "" {
		var jump Config
		jump, err = config(w, w.Jump, folder)
		cfg.Jump = &jump
	}
	if err != nil {
		return nil, fmt.Errorf("reading the address of a host: %w", err)
	}
	return New(cfg)
}

func config(w settings.SSH, host, folder string) (Config, error) {
	user, address, err := Parse(host)
	cfg := Config{Address: address, User: user, Keys: w.Keys, Agent: w.Agent, KnownHosts: w.KnownHosts, KeepAlive: w.KeepAlive}
	if w.TrustFirst {
		cfg.TrustFirst = filepath.Join(folder, "known_hosts")
	}
	return cfg, err
}
