//go:build !linux

package docker

import "syscall"

// giveUpSilence leaves it to the system when to give up.
func giveUpSilence(_, _ string, _ syscall.RawConn) error { return nil }
