package bubblewrap

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lowPorts is the first port of a network for which no capability is needed.
const lowPorts = "/proc/sys/net/ipv4/ip_unprivileged_port_start"

// openLowPorts has processes inside listen at port 53 and its like, as the runner does, in a network
// that is the sandbox's alone. None of them can see to that itself: bwrap takes the namespace of users
// from them in which a capability would count for the network. Its root is who made it, so that no other is needed.
func openLowPorts(ctx context.Context, inside int, as *syscall.Credential) error {
	network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", inside))
	if err != nil {
		return err
	}
	defer network.Close()
	number, err := unix.IoctlRetInt(int(network.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		return err
	}
	users := os.NewFile(uintptr(number), "users")
	defer users.Close()
	cmd := exec.CommandContext(ctx, "nsenter", "--preserve-credentials", "--user=/proc/self/fd/3", "--net=/proc/self/fd/4", "--",
		"tee", lowPorts)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.ExtraFiles = []string{}, "/", strings.NewReader("0"), []*os.File{users, network}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	return cmd.Run()
}
