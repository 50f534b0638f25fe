# Speaks through an outlet in the ways that programs do.
import hashlib, os, resource, signal, socket, struct, sys, threading


def dial(host, port):
    s = socket.create_connection((host, port), timeout=60)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def everything(s):
    parts = []
    while part := s.recv(65536):
        parts.append(part)
    return b"".join(parts)


# echo says something, ends, and prints what comes back.
def echo(host, port, text):
    with dial(host, port) as s:
        s.sendall(text.encode())
        s.shutdown(socket.SHUT_WR)
        print(everything(s).decode())


# many has connections at once that each send bytes of their own and want them back.
def many(host, port, connections, size):
    faults = []

    def one(number):
        sent = hashlib.sha256(str(number).encode()).digest() * (size // 32)
        try:
            with dial(host, port) as s:
                sender = threading.Thread(target=lambda: (s.sendall(sent), s.shutdown(socket.SHUT_WR)))
                sender.start()
                got = everything(s)
                sender.join()
            if got != sent:
                faults.append(f"{number}: {len(got)} bytes came back of {len(sent)}")
        except OSError as e:
            faults.append(f"{number}: {e}")

    threads = [threading.Thread(target=one, args=(n,)) for n in range(connections)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(len(faults), *faults[:3])


# wait prints how a connection ends on which the program sends nothing more.
def wait(host, port, word):
    with dial(host, port) as s:
        s.sendall(word.encode() + b"\n")
        try:
            print("end after", everything(s).decode())
        except ConnectionResetError:
            print("reset")


# flood sends until it cannot, and prints how that ended.
def flood(host, port, word):
    with dial(host, port) as s:
        s.sendall(word.encode() + b"\n")
        try:
            while True:
                s.sendall(bytes(65536))
        except (ConnectionResetError, BrokenPipeError):
            print("reset")


# break_off resets a connection.
def break_off(host, port, word):
    s = dial(host, port)
    s.sendall(word.encode() + b"\n")
    s.recv(1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


# hold opens connections that say a word and then neither read nor send until the
# input ends.
def hold(host, port, word, connections):
    held = []
    for _ in range(connections):
        s = dial(host, port)
        s.sendall(word.encode() + b"\n")
        held.append(s)
    print("held", flush=True)
    threading.Event().wait()


# stuff opens connections on which it sends for as long as it can.
def stuff(host, port, word, connections):
    def one():
        try:
            with dial(host, port) as s:
                s.sendall(word.encode() + b"\n")
                while True:
                    s.sendall(bytes(65536))
        except OSError:
            pass

    for _ in range(connections):
        threading.Thread(target=one, daemon=True).start()
    print("held", flush=True)
    threading.Event().wait()


# limit opens one connection more than there may be, and again when one has ended.
def limit(host, port, most):
    held = []

    def answered():
        try:
            s = dial(host, port)
            s.sendall(b"x")
            if s.recv(1) == b"x":
                held.append(s)
                return True
        except (ConnectionResetError, BrokenPipeError):
            pass
        return False

    print("within", all([answered() for _ in range(most)]))
    print("beyond", answered())
    first = held.pop()
    first.shutdown(socket.SHUT_WR)
    print("ended", everything(first) == b"")
    print("again", answered())


# squat tries to listen where the outlet does.
def squat(port):
    for host in ("127.0.0.1", "127.64.0.9", "0.0.0.0"):
        for options in ((), (socket.SO_REUSEADDR,), (socket.SO_REUSEADDR, socket.SO_REUSEPORT)):
            with socket.socket() as s:
                for option in options:
                    s.setsockopt(socket.SOL_SOCKET, option, 1)
                try:
                    s.bind((host, port))
                    s.listen()
                    print("listens on", host, options)
                except OSError:
                    pass


# nobody tries to connect where nothing listens.
def nobody(host, port):
    try:
        dial(host, port).close()
        print("connected")
    except OSError:
        print("refused")


# stop_others tries to stop each process there is: by signals, by its limits and by its memory. The
# limits of what another user or another namespace runs cannot be set.
def stop_others():
    spared = {os.getpid(), os.getppid()}
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        if pid in spared:
            continue
        for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU):
            try:
                resource.prlimit(pid, what, (0, 0))
            except (OSError, ValueError):
                pass
        for name in (signal.SIGSTOP, signal.SIGSEGV, signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(pid, name)
            except OSError:
                pass
        try:
            open(f"/proc/{pid}/mem", "r+b").close()
            print("writes the memory of", pid)
        except OSError:
            pass
