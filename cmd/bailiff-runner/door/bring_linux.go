package door

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// Bring copies this program into the pod's shared folder, executable and not readable, so that the kernel closes its processes to
// others of the same user. With the argument [wire.Severed] it removes the pod's interfaces first.
func Bring(rest []string) error {
	if slices.Contains(rest, wire.Severed) {
		if err := sever(); err != nil {
			return err
		}
	}
	if err := bringProgram(); err != nil {
		return fmt.Errorf("bringing the runner: %w", err)
	}
	return closeMessage()
}

func bringProgram() error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(wire.RunnerFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Chmod(0o111), to.Close())
}

// closeMessage makes the place at which the kubelet shows the container a file of the node's, to which everyone may write without
// bound, a folder that only this user passes.
func closeMessage() error {
	err := os.Mkdir(filepath.Dir(wire.MessageFile), 0o700)
	if err == nil {
		err = os.WriteFile(wire.MessageFile, nil, 0o600)
	}
	if err != nil {
		return fmt.Errorf("closing the file for messages: %w", err)
	}
	return nil
}

// sever removes every interface but the loopback. One that the kernel keeps, as the ends of tunnels, is taken down: it takes a capability
// that the sandbox lacks to take it up.
func sever() error {
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("listing the pod's interfaces: %w", err)
	}
	for _, each := range all {
		if each.Flags&net.FlagLoopback != 0 {
			continue
		}
		if removal := remove(each.Index); removal != nil && each.Flags&net.FlagUp != 0 {
			if err := takeDown(each.Name); err != nil {
				return fmt.Errorf("removing interface %s: %w, and taking it down: %w", each.Name, removal, err)
			}
		}
	}
	return checkSevered()
}

// checkSevered wants no interface to be up but the loopback.
func checkSevered() error {
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("listing the pod's interfaces: %w", err)
	}
	for _, each := range all {
		if each.Flags&net.FlagLoopback == 0 && each.Flags&net.FlagUp != 0 {
			return fmt.Errorf("the pod has a network: interface %s", each.Name)
		}
	}
	return nil
}

// remove asks the kernel to remove an interface, by rtnetlink.
func remove(index int) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	const size = unix.SizeofNlMsghdr + unix.SizeofIfInfomsg
	order := binary.NativeEndian
	message := order.AppendUint32(nil, size)
	message = order.AppendUint16(message, unix.RTM_DELLINK)
	message = order.AppendUint16(message, unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	message = append(message, make([]byte, 12)...) // number and sender; family and kind
	message = order.AppendUint32(message, uint32(index))
	message = append(message, make([]byte, size-len(message))...)
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	switch {
	case err != nil:
		return err
	case n < unix.SizeofNlMsghdr+4 || order.Uint16(answer[4:]) != unix.NLMSG_ERROR:
		return errors.New("the kernel gave another answer")
	}
	if code := int32(order.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return syscall.Errno(-code)
	}
	return nil
}

func takeDown(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	flags, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, flags)
}
