package confine

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Where the kernel's description of a call has what a filter looks at. Of an
// argument that the kernel takes as 32 bits, the filter looks at no more either.
const (
	callNumber = 0
	callArch   = 4
	callFirst  = 16
	callSecond = 24
)

// families are the kinds of socket that there are inside. Others reach past the
// network namespace (AF_VSOCK the host, AF_ALG the kernel's ciphers) or are old
// and rarely looked at.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// denied are calls that no command needs and that reach beyond a sandbox, or
// into parts of the kernel where faults are often found.
var denied = append([]uint32{
	unix.SYS_ACCT, unix.SYS_ADD_KEY, unix.SYS_BPF, unix.SYS_CLOCK_ADJTIME, unix.SYS_CLOCK_SETTIME,
	unix.SYS_DELETE_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSOPEN,
	unix.SYS_FSPICK, unix.SYS_INIT_MODULE, unix.SYS_KCMP, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_KEXEC_LOAD,
	unix.SYS_KEYCTL, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_MOVE_MOUNT,
	unix.SYS_NFSSERVCTL, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_PIVOT_ROOT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_REBOOT,
	unix.SYS_REQUEST_KEY, unix.SYS_SETNS, unix.SYS_SETTIMEOFDAY, unix.SYS_SWAPOFF, unix.SYS_SWAPON,
	unix.SYS_SYSLOG, unix.SYS_UMOUNT2, unix.SYS_UNSHARE, unix.SYS_USERFAULTFD, unix.SYS_VHANGUP,
}, deniedHere...)

// unknown are calls that are answered as an older kernel would, so that programs
// do without: the filter cannot look at what they are asked for.
var unknown = []uint32{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}

const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// FilterCalls puts the filter into force, on all threads. What may set no new
// privileges can do so without any.
func FilterCalls() error {
	raw, err := bpf.Assemble(filter())
	if err != nil {
		return fmt.Errorf("writing the filter of calls: %w", err)
	}
	program := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		program[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	of := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&of)))
	if errno != 0 || thread != 0 {
		return fmt.Errorf("filtering calls of the kernel, which needs seccomp: %w", errno)
	}
	return nil
}

// filter allows what nothing here denies. It knows the numbers of one
// architecture only, so who calls by those of another is killed.
func filter() []bpf.Instruction {
	list := []bpf.Instruction{
		bpf.LoadAbsolute{Off: callArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		bpf.LoadAbsolute{Off: callNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: foreign, SkipTrue: 1},
		refuse(syscall.ENOSYS),
	}
	for _, call := range denied {
		list = append(list, on(call, refuse(syscall.EPERM))...)
	}
	for _, call := range unknown {
		list = append(list, on(call, refuse(syscall.ENOSYS))...)
	}
	list = append(list, on(unix.SYS_CLONE,
		bpf.LoadAbsolute{Off: callFirst, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: namespaces, SkipTrue: 1},
		refuse(syscall.EPERM),
		allow)...)
	list = append(list, on(unix.SYS_PRLIMIT64, only([]uint32{0}, callFirst, syscall.EPERM)...)...) // one's own
	list = append(list, on(unix.SYS_SOCKET, only(families, callFirst, syscall.EAFNOSUPPORT)...)...)
	list = append(list, on(unix.SYS_SOCKETPAIR, only(families, callFirst, syscall.EAFNOSUPPORT)...)...)
	list = append(list, on(unix.SYS_IOCTL,
		bpf.LoadAbsolute{Off: callSecond, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCLINUX, SkipTrue: 1},
		allow,
		refuse(syscall.EPERM))...)
	return append(list, allow)
}

var allow = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}

func refuse(with syscall.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(with)}
}

// on does something with one call, which must end with its fate.
func on(call uint32, do ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: uint8(len(do))}}, do...)
}

// only allows a call with these values of an argument.
func only(values []uint32, argument uint32, errno syscall.Errno) []bpf.Instruction {
	list := []bpf.Instruction{bpf.LoadAbsolute{Off: argument, Size: 4}}
	for i, value := range values {
		list = append(list, bpf.JumpIf{Cond: bpf.JumpEqual, Val: value, SkipTrue: uint8(len(values) - i)})
	}
	return append(list, refuse(errno), allow)
}
