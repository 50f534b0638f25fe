package snapshot

import (
	"io/fs"
	"syscall"
	"time"
)

// isRecent says whether a file, or its permissions, may have changed since the second before a moment.
func isRecent(info fs.FileInfo, began time.Time) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return !ok || of.Ctim.Sec >= began.Unix()-1
}
