// Package codex holds the settings by which root has every user's Codex ask, and what each
// user's Codex has to let through.
package codex

import _ "embed"

// Requirements and ManagedConfig are root's files, in /etc/codex.
var (
	//go:embed requirements.toml
	Requirements string
	//go:embed managed_config.toml
	ManagedConfig string
)
