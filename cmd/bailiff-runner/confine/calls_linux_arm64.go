package confine

import "golang.org/x/sys/unix"

const (
	arch    = unix.AUDIT_ARCH_AARCH64
	foreign = 0x40000000 // no call has such a number
)

var deniedHere []uint32
