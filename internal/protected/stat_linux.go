package protected

import (
	"io/fs"
	"syscall"
	"time"
)

func changed(stat *syscall.Stat_t) time.Time { return time.Unix(stat.Ctim.Unix()) }

func ownedBy(info fs.FileInfo, s state) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == s.uid
}
