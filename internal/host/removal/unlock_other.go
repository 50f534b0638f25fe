//go:build !linux

package removal

import "golang.org/x/sys/unix"

// unlock opens a folder to its user, and never one that a link leads to.
func unlock(at int, name string) { _ = unix.Fchmodat(at, name, 0o700, unix.AT_SYMLINK_NOFOLLOW) }
