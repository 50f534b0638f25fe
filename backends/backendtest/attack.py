# Attacks on the limits of a sandbox. Each is bounded by a number, and by limits of
# its own process in case that the sandbox has none.
import errno, mmap, os, resource, signal, socket, stat, threading

MB = 1 << 20
FOLDERS = "/workspace", "/tmp", "/home", "/var/tmp", "/run", "/dev/shm"


def child(do):
    pid = os.fork()
    if pid == 0:
        try:
            do()
        finally:
            os._exit(0)
    return pid


# Floods: each makes one process more, or fails as a fork or a thread does.


def process():
    child(signal.pause)


def zombie():
    child(lambda: None)


def thread():
    threading.Thread(target=threading.Event().wait, daemon=True).start()


def daemon():
    """Double-forks and leaves the session."""
    read, write = os.pipe()

    def first():
        os.setsid()
        try:
            child(signal.pause)
        except OSError:
            os.write(write, b"x")

    os.waitpid(child(first), 0)
    os.close(write)
    refused = os.set_blocking(read, False) or failed(read)
    os.close(read)
    if refused:
        raise BlockingIOError


def failed(read):
    try:
        return os.read(read, 1) != b""
    except BlockingIOError:  # the daemon holds the other end
        return False


def flood(make, number):
    try:
        for _ in range(number):
            make()
    except (BlockingIOError, RuntimeError):
        os.write(1, b"refused\n")
    os._exit(0)  # without waiting for threads


# Hogs: each uses up another megabyte, and keeps it.
kept = []
noise = os.urandom(MB)


def memory():
    kept.append(bytearray(os.urandom(4096)) * 256)


def forks():
    """Asks of every eighth megabyte whether the process that took it lives."""
    kept.append(None)
    if len(kept) % 8:
        return
    read, write = os.pipe()

    def take():
        taken = bytearray(os.urandom(4096)) * 8 * 256
        os.write(write, b"x")
        signal.pause()

    child(take)
    os.close(write)
    if os.read(read, 1) == b"" or os.waitpid(-1, os.WNOHANG)[0]:
        raise MemoryError("a process was killed")


def shared():
    taken = mmap.mmap(-1, MB)
    taken.write(noise)
    kept.append(taken)


def written(file):
    return lambda: os.write(file, noise)


def empty():
    for n in range(1500):
        os.close(os.open(f"/tmp/{len(kept)}-{n}", os.O_CREAT))
    kept.append(None)


def pipes():
    left = MB
    while left > 0:  # the kernel makes a user's pipes smaller once many are full
        read, write = os.pipe()
        os.set_blocking(write, False)
        kept.append((read, write))
        try:
            while left > 0:
                left -= os.write(write, noise[: 64 << 10])
        except BlockingIOError:
            pass


def sockets():
    for _ in range(4):
        pair = socket.socketpair()
        kept.append(pair)
        pair[0].setblocking(False)
        try:
            while True:
                pair[0].send(noise[: 64 << 10])
        except BlockingIOError:
            pass


def hog(step, number):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    try:
        for _ in range(number):
            step()
    except (MemoryError, OSError) as fault:
        print("refused:", fault)
    else:
        print("there was no end to it")


def memory_without_a_name():
    return written(os.memfd_create("x"))


def files_in_memory():
    return written(os.open("/dev/shm/x", os.O_CREAT | os.O_WRONLY))


def fill(number):
    """Says how many megabytes all folders take together."""
    total = 0
    for folder in FOLDERS:
        file = os.open(folder + "/filler", os.O_CREAT | os.O_WRONLY)
        os.unlink(folder + "/filler")
        try:
            for _ in range(16 * number):
                os.write(file, bytes(MB // 16))
        except OSError as fault:
            if fault.errno != errno.ENOSPC:
                raise
        total += os.fstat(file).st_blocks * 512
        kept.append(file)
    print(-(-total // MB), "MB")


def mounts():
    """Each place that is mounted, and whether it is for reading only."""
    with open("/proc/self/mountinfo") as table:
        for line in table:
            fields = line.split()
            yield fields[4], "ro" in fields[5].split(",")


def writable():
    """Says which folders and files are open for writing; of folders within one another, the outer."""
    found, all = set(), dict(mounts())
    for mount, closed in all.items():
        if not closed:
            found.update(within(mount, all))
        elif os.path.isdir(mount) and os.access(mount, os.W_OK):
            found.add(mount)
    for path in sorted(found):
        print(path)


def within(mount, others):
    if mount == "/dev/mqueue":  # it holds queues, and the kernel bounds them
        return
    if not os.path.isdir(mount):
        if os.access(mount, os.W_OK) and not stat.S_ISCHR(os.stat(mount).st_mode):
            yield mount
        return
    for at, folders, files in os.walk(mount):
        if os.access(at, os.W_OK) and at != "/dev/pts":  # where nobody can make a file
            yield at
            folders.clear()
            continue
        folders[:] = [name for name in folders if os.path.join(at, name) not in others]
        if at == "/proc":
            folders[:] = [name for name in folders if not name.isdigit() and name not in ("self", "thread-self", "pressure")]
        for path in (os.path.join(at, name) for name in files):
            if path not in others and not os.path.islink(path) and os.access(path, os.W_OK) and not stat.S_ISCHR(os.stat(path).st_mode):
                yield path


def attack(name, number):
    for limit, most in (resource.RLIMIT_NPROC, 4096), (resource.RLIMIT_AS, 2048 * MB), (resource.RLIMIT_FSIZE, 1024 * MB):
        hard = resource.getrlimit(limit)[1]  # which nobody inside can raise
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (most, most))
    floods = {"processes": process, "threads": thread, "zombies": zombie, "daemons": daemon}
    hogs = {"one process": memory, "many processes": forks, "shared memory": shared, "empty files": empty, "pipes": pipes, "sockets": sockets}
    named = {"memory without a name": memory_without_a_name, "files in memory": files_in_memory}
    if name in floods:
        flood(floods[name], number)
    elif name in hogs:
        hog(hogs[name], number)
    elif name in named:
        hog(named[name](), number)
    elif name == "files":
        fill(number)
    else:
        writable()
