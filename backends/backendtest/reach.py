# Prints which of a list of addresses can be reached, and what of the network could
# be changed.
import ctypes, fcntl, socket, struct

libc = ctypes.CDLL(None, use_errno=True)


def say(name, do):
    try:
        do()
    except OSError:
        return
    print(name)


def connected(family, kind, address):
    def do():
        with socket.socket(family, kind) as s:
            s.settimeout(2)
            s.connect(address)
            if kind == socket.SOCK_DGRAM:
                s.send(b"from inside")
                s.send(b"again")  # is told that nobody had the first

    return do


def reach(hosts, port, paths):
    for host in hosts:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        say(f"tcp {host}", connected(family, socket.SOCK_STREAM, (host, port)))
        say(f"udp {host}", connected(family, socket.SOCK_DGRAM, (host, port)))
    for path in paths:
        say(f"unix {path}", connected(socket.AF_UNIX, socket.SOCK_STREAM, path.replace("@", "\0")))


def opened(family, protocol):
    return lambda: socket.socket(family, socket.SOCK_RAW, protocol).close()


def taken_down():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0))  # SIOCSIFFLAGS


def addressed():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
        body = struct.pack("BBBBI", socket.AF_INET, 24, 0, 0, 1) + struct.pack("HH4B", 8, 2, 198, 51, 100, 7)
        s.send(struct.pack("IHHII", 16 + len(body), 20, 0x605, 1, 0) + body)  # RTM_NEWADDR
        fault = struct.unpack_from("i", s.recv(4096), 16)[0]
        if fault:
            raise OSError(-fault, "refused")


def change():
    for _, name in socket.if_nameindex():
        print("interface", name)
    say("raw socket", opened(socket.AF_INET, socket.IPPROTO_ICMP))
    say("raw socket of IPv6", opened(socket.AF_INET6, 58))
    say("socket for packets", opened(17, 0x300))
    say("loopback taken down", taken_down)
    say("address given", addressed)


# What two processes of one kernel can meet at without a network.


def segment(key, flags):
    def do():
        if libc.shmget(key, 4096, flags) < 0:
            raise OSError(ctypes.get_errno(), "no segment")

    return do


def offer(port, name, key):
    """Offers all of it, and meets it itself."""
    kept = [socket.create_server(("127.0.0.1", port)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)]
    kept[1].bind(("127.0.0.1", port))
    for address in places(name):
        s = socket.socket(socket.AF_UNIX)
        s.bind(address.replace("@", "\0"))
        s.listen()
        kept.append(s)
    segment(key, 0o1666)()
    meet(port, name, key)
    print("ready")
    return kept


def places(name):
    return "/tmp/" + name, "/dev/shm/" + name, "@" + name


def meet(port, name, key):
    reach(["127.0.0.1"], port, places(name))
    say("shared memory", segment(key, 0o666))
