// Package copilotcli holds the files by which root has every user's Copilot CLI ask.
package copilotcli

import _ "embed"

// Policy is the file of /etc/github-copilot/policy.d, Managed the one of /etc/github-copilot, which lets no other hook run.
var (
	//go:embed policy.json
	Policy string
	//go:embed managed-settings.json
	Managed string
)
