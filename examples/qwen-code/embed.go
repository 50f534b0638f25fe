// Package qwencode holds the settings by which root has every user's Qwen Code ask.
package qwencode

import _ "embed"

// Settings is the file of /etc/qwen-code.
//
//go:embed settings.json
var Settings string
