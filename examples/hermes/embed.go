// Package hermes holds the plug-in for Hermes Agent as it is shipped, so that an
// installed one can be compared with it.
package hermes

import "embed"

// Plugin holds the folder bailiff.
//
//go:embed bailiff/*.py bailiff/plugin.yaml bailiff/__pycache__
var Plugin embed.FS
