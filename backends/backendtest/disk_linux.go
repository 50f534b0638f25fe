package backendtest

import (
	"os"
	"syscall"
	"testing"
)

// SmallDisk mounts a file system of a size in bytes, such as "128k", at a folder, which
// it makes if need be. Where everything is required, not to be able to is a failure.
func SmallDisk(tb testing.TB, folder, size string) {
	tb.Helper()
	Starts(tb) // before there is a mount that a test which is left out would leave behind
	Must(tb, os.MkdirAll(folder, 0o700))
	Needs(tb, "A SMALL DISK", syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "size="+size+",mode=700"))
	tb.Cleanup(func() {
		NoError(tb, syscall.Unmount(folder, syscall.MNT_DETACH))
	})
}
