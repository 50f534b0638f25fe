// Package cursor holds the hooks by which root has every user's Cursor ask.
package cursor

import _ "embed"

// Hooks is the file of /etc/cursor.
//
//go:embed hooks.json
var Hooks string
