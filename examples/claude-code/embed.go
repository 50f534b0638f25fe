// Package claudecode holds the settings by which root has every user's Claude Code ask.
package claudecode

import _ "embed"

// ManagedSettings is the file of /etc/claude-code.
//
//go:embed managed-settings.json
var ManagedSettings string
