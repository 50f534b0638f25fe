package gateway

import "golang.org/x/sys/unix"

// credential is the user that connected, as the kernel knows it.
func credential(fd int) (uid uint32, pid int32, err error) {
	who, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	return who.Uid, 0, nil
}
