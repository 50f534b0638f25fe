package gateway

import "golang.org/x/sys/unix"

// credential is the user that connected, and the process, as the kernel knows them.
func credential(fd int) (uid uint32, pid int32, err error) {
	who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	return who.Uid, who.Pid, nil
}
