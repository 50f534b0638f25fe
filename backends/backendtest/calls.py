# Prints which calls of the kernel are refused (EPERM), unknown (ENOSYS) or
# allowed, and which kinds of socket there are.
import ctypes, errno, mmap, multiprocessing, os, platform, resource, socket, subprocess, threading

libc = ctypes.CDLL(None, use_errno=True)
amd64 = platform.machine() == "x86_64"


def call(number, *arguments):
    """The result of a call, below zero its error."""
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_ulong(a) for a in arguments))
    return -ctypes.get_errno() if result == -1 else result


def say(name, result):
    words = {-errno.EPERM: "refused", -errno.ENOSYS: "unknown"}
    print(f"{name}:", words.get(result, "allowed" if result >= 0 else errno.errorcode[-result]))


def families(number, *rest):
    for family in range(64):
        for noise in 0, 1 << 40:  # the kernel looks at 32 bits
            if call(number, family | noise, *rest) >= 0:
                yield family
                break


def attempt(do):
    try:
        do()
        return 0
    except OSError as fault:
        return -fault.errno


def narrow():
    """Whether a call by the way of 32-bit programs is the caller's end."""
    child = os.fork()
    if child == 0:
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # getpid
        ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def share():
    there = multiprocessing.Queue()
    child = multiprocessing.Process(target=there.put, args=("here",))
    child.start()
    if there.get() != "here":
        raise OSError(errno.EIO, "another text")
    child.join()


pair = (ctypes.c_int * 2)()
print("socket", *families(41 if amd64 else 198, socket.SOCK_DGRAM, 0))
print("socketpair", *families(53 if amd64 else 199, socket.SOCK_DGRAM, 0, ctypes.addressof(pair)))

supervisor = os.getppid()
say("another process's limits", attempt(lambda: resource.prlimit(supervisor, resource.RLIMIT_NOFILE, (9, 9))))
say("one's own limits", attempt(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))))
say("foreign calls", -errno.EPERM if not amd64 or call(0x40000000 + 39) == -errno.ENOSYS and narrow() else 0)
say("clone", call(56 if amd64 else 220, 0x10000000 | 17, 0, 0, 0, 0))  # CLONE_NEWUSER, SIGCHLD
say("clone3", call(435, 0, 0))
say("io_uring_setup", call(425, 1, 0))
terminal, _ = os.openpty()
say("TIOCSTI", call(16 if amd64 else 29, terminal, 0x5412 | 1 << 40, ctypes.addressof(pair)))
queue = ctypes.create_string_buffer(b"bailiff")
say("a message queue", call(240 if amd64 else 180, ctypes.addressof(queue), os.O_CREAT | os.O_RDWR, 0o600, 0))
say("watching files", call(294 if amd64 else 26, 0))
say("queues of processes", attempt(share))
thread = threading.Thread(target=lambda: subprocess.run(["true"], check=True))
thread.start()
thread.join()
say("threads and processes", 0)

for name, number in {
    "add_key": (248, 217), "bpf": (321, 280), "fsopen": (430, 430), "keyctl": (250, 219), "mount": (165, 40),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241), "pivot_root": (155, 41),
    "request_key": (249, 218), "setns": (308, 268), "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97),
    "userfaultfd": (323, 282),
}.items():
    say(name, call(number[0 if amd64 else 1], 0, 0, 0, 0, 0))
