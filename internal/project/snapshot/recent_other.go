//go:build !linux

package snapshot

import (
	"io/fs"
	"time"
)

// isRecent takes every file for recent: when its permissions changed is read on Linux alone.
func isRecent(fs.FileInfo, time.Time) bool { return true }
