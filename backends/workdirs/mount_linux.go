package workdirs

import "golang.org/x/sys/unix"

// mountAlone mounts a disk for the calling thread, and what it starts, alone.
// What the host mounts and unmounts from then on, they see too.
func mountAlone(device, folder string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	return unix.Mount(device, folder, "ext4", unix.MS_NOSUID|unix.MS_NODEV, "errors=remount-ro,discard")
}
