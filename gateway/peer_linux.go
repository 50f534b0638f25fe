package gateway

import "golang.org/x/sys/unix"

// credential is the user that connected, as the kernel knows it.
func credential(fd int) (uint32, error) {
	who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return who.Uid, nil
}
