# Looks names up and connects in the ways that programs do which know no proxy.
import os, socket, struct, subprocess

RESOLVER = ("127.128.0.53", 53)


def query(name, kind=1, number=7):
    labels = b"".join(bytes([len(l)]) + l for l in name.encode().split(b"."))
    return struct.pack(">6H", number, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)


def by_packet(text, wait=10):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(wait)
        s.sendto(text, RESOLVER)
        return s.recvfrom(65536)


def by_stream(*texts):
    with socket.create_connection(RESOLVER, timeout=10) as s, s.makefile("rb") as f:
        for text in texts:
            s.sendall(struct.pack(">H", len(text)) + text)
            yield f.read(*struct.unpack(">H", f.read(2) or b"\0\0"))


def address(name):
    return socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)[0][4][0]


def tried(do, *arguments):
    try:
        return do(*arguments)
    except OSError as e:
        return type(e).__name__


def echo(host, port):
    with socket.create_connection((host, port), timeout=30) as s:
        s.sendall(b"hello")
        s.shutdown(socket.SHUT_WR)
        return s.makefile("rb").read().decode()


def reach():
    here = address("a.test")
    print("getent", subprocess.run(["getent", "hosts", "a.test"], capture_output=True, text=True).stdout.split() == [here, "a.test"])
    print("a name", echo("a.test", 443) == here + ":443 hello", echo("A.test.", 22) == here + ":22 hello")
    print("a port that is closed", tried(echo, here, 81))
    print("a name that is unknown", tried(address, "b.test"))
    print("an address that was never answered", tried(echo, "127.128.9.9", 443))
    replies = [r[:2] for r in by_stream(query("a.test", number=1), query("a.test", kind=16, number=2))]
    print("by a stream", replies == [b"\0\1", b"\0\2"])
    print("what is too long", tried(lambda: list(by_stream(query("a.test") + bytes(2000)))))
    for text in (b"", b"\0", os.urandom(100), query("a.test") + bytes(2000)):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(text, RESOLVER)
    print("after what is no query", by_packet(query("a.test"))[0][:2] == b"\0\7", by_packet(query("a.test"))[1] == RESOLVER)


# taken looks a name up while a server inside has all addresses at the ports.
def taken():
    servers = [socket.create_server(("0.0.0.0", port)) for port in (443, 22)]
    print("while its ports are taken", tried(address, "c.test"))
    for s in servers:
        s.close()
    print("and later", echo("c.test", 443) == address("c.test") + ":443 hello")


# many looks up more names than have room.
def many(names):
    first = address("n0.test")
    for i in range(1, names):
        address("n%d.test" % i)
    print("the last", echo("n%d.test" % (names - 1), 443).endswith("hello"))
    print("the first", tried(echo, first, 443), echo("n0.test", 443).endswith("hello"))


def stranger(host):
    print("another sandbox's", tried(echo, host, 443))


def squat():
    servers = [socket.socket(socket.AF_INET, kind) for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM)]
    print("its place", [tried(s.bind, RESOLVER) for s in servers])
