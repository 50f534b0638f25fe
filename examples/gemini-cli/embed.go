// Package geminicli holds the settings by which root has every user's Gemini CLI ask.
package geminicli

import _ "embed"

// Settings is the file of /etc/gemini-cli, Rules the one of /etc/gemini-cli/policies.
var (
	//go:embed settings.json
	Settings string
	//go:embed bailiff.toml
	Rules string
)
