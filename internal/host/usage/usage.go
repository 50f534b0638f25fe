// Package usage says what a folder takes of its disk.
//
// Promised: a folder that others write meanwhile is measured to its end; what they remove counts for nothing, and no link is
// followed. What cannot be looked at is an error, so that nothing hides behind it.
//
// Not here: who may take how much, and what becomes of more.
package usage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// Usage is what lies in a folder: the bytes of its blocks on disk, and the number of files and folders, without itself.
type Usage struct{ Bytes, Files int64 }

// ErrMore is that a folder takes more than it may.
var ErrMore = errors.New("takes more than it may")

// deepest is how many folders may lie in each other.
const deepest = 200

// Of is the usage of a folder. It looks no further where that is more than a bound, or where folders lie deeper in each other than 200:
// the error is then [ErrMore].
func Of(ctx context.Context, folder string, most Usage) (u Usage, err error) {
	above := strings.Count(folder, "/")
	err = filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = e.Info()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone meanwhile
		case err != nil:
			return fmt.Errorf("%s cannot be measured: %w", folder, err)
		case name == folder:
			return ctx.Err()
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			u.Bytes += stat.Blocks * 512
		}
		if u.Files++; u.Bytes > most.Bytes || u.Files > most.Files || strings.Count(name, "/")-above > deepest {
			return ErrMore
		}
		return ctx.Err()
	})
	return u, err
}
