# Writes files: "PATH MODE SIZE" and the bytes. A file is there before all of it is.
import os, sys

os.umask(0)
while True:
    line = sys.stdin.buffer.readline()
    if not line:
        break
    path, mode, size = line.decode().rsplit(" ", 2)
    content = sys.stdin.buffer.read(int(size))
    try:
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        with open(path, "wb") as file:
            file.write(content[: len(content) // 2])
            file.flush()
            file.write(content[len(content) // 2 :])
        os.chmod(path, int(mode, 8))
        print("ok", flush=True)
    except OSError as fault:
        print(str(fault)[:150], flush=True)
