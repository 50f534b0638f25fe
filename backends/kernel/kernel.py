"""Runs scripts, one after another in one namespace, for whoever talks to it:
it reads messages on descriptor 3 and writes them on descriptor 4, each a line
of JSON. What scripts print goes to descriptors 1 and 2 as it is printed."""

import _thread
import base64
import builtins
import itertools
import json
import linecache
import os
import queue
import signal
import site
import sys
import threading
import time
import traceback
import types
import warnings

sys.path.append("")  # the last: a file of the workspace stands in for nothing

FROM, TO = 3, 4
PID = os.getpid()
HERE = "<kernel>"  # the file name of this text
INTERRUPTED = 130
LISTINGS = 50  # so many scripts have their lines shown in tracebacks
PATIENCE = 1.0  # seconds that threads have to end after an interrupt

outgoing = queue.SimpleQueue()
scripts = queue.SimpleQueue()
answers = {}  # queues by the number of a call
numbers = itertools.count(1)
titles = itertools.count(1)
listed = []
main = sys.modules["__main__"]
own = [name for name in vars(builtins) if not name.startswith("__")]
home = os.getcwd()


def speak():
    # In a thread of its own, since no interrupt can cut a line in two there.
    while True:
        message, written = outgoing.get()
        line = json.dumps(message, allow_nan=False).encode() + b"\n"
        try:
            while line:
                line = line[os.write(TO, line):]
        except OSError:
            os._exit(1)  # nobody is to be waited for without end
        written.release()


def tell(message):
    written = _thread.allocate_lock()
    written.acquire()
    outgoing.put((message, written))
    written.acquire()


def hear():
    with open(FROM, "rb", closefd=False) as lines:
        for line in lines:
            message = json.loads(line)
            if "answer" not in message:
                scripts.put(message)
                continue
            waiting = answers.pop(message["answer"], None)
            if waiting is not None:
                waiting.put(message)
    os._exit(1)


class ToolError(Exception):
    """A tool could not be called, or says that it failed."""


ToolError.__module__ = "bailiff_tools"


def call(tool, arguments):
    if os.getpid() != PID:
        raise ToolError("tools can be called from the script's own process only")
    script = script_of(threading.current_thread())
    if script is None or script != Turn.script:
        raise ToolError("the script that started this thread has ended")
    json.dumps(arguments, allow_nan=False)  # raises here what must not be raised in speak
    number, answer = next(numbers), queue.SimpleQueue()
    answers[number] = answer
    try:
        tell({"call": number, "script": script, "tool": tool, "arguments": arguments})
        got = answer.get()
    finally:
        answers.pop(number, None)
    if "fault" in got:
        raise ToolError(got["fault"])
    return got["value"]


def terminal(command, workdir=None, timeout=None):
    """Runs a shell command; returns its output, exit_code, status and message."""
    arguments = {"command": command, "workdir": workdir, "timeout": timeout}
    result = call("terminal", {name: value for name, value in arguments.items() if value is not None})
    raw = result.pop("output_base64", None)
    if raw is not None:
        result["output"] = base64.b64decode(raw).decode("utf-8", "surrogateescape")
    return result


class Tools(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        def tool(*values, **arguments):
            if values:
                raise TypeError(name + "() takes keyword arguments only")
            return call(name, arguments)

        tool.__name__ = name
        return tool

    def __dir__(self):
        return sorted(self.__all__)


tools = Tools("bailiff_tools", "The tools that a script may call.")
tools.ToolError, tools.terminal, tools.__all__ = ToolError, terminal, []
sys.modules["bailiff_tools"] = tools


class Turn:
    script = None  # the number of the one that runs
    interruptible = False
    interrupted = False


def script_of(thread):
    # The number of the script that started a thread, itself or by its threads.
    return Turn.script if thread is threading.main_thread() else getattr(thread, "_script", None)


def start(thread):
    thread._script = script_of(threading.current_thread())
    start_thread(thread)


start_thread, threading.Thread.start = threading.Thread.start, start


def interrupt(signum, frame):
    # Once for a script, and never outside of one.
    if Turn.interruptible and not Turn.interrupted:
        Turn.interrupted = True
        raise KeyboardInterrupt


def renew_streams():
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    if sys.stdin.closed:
        sys.stdin = sys.__stdin__ = open(0, closefd=False)
    for name, fd in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name).closed:
            stream = open(fd, "w", errors="surrogateescape", closefd=False, buffering=1)
            setattr(sys, name, stream)
            setattr(sys, "__" + name + "__", stream)


def renew_names():
    # What a script says is read without those before it, so that Python's own
    # names must mean what they say.
    for name in own:
        main.__dict__.pop(name, None)
    main.__dict__["__builtins__"] = builtins


def renew_path(user_site):
    # What users installed for themselves can be imported, but nothing of it runs
    # unasked, as it would by .pth files and usercustomize.
    folder = site.getusersitepackages()
    if user_site and folder not in sys.path:
        sys.path.append(folder)


def compiled(text):
    name = "<script %d>" % next(titles)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    listed.append(name)
    if len(listed) > LISTINGS:
        linecache.cache.pop(listed.pop(0), None)
    return compile(text, name, "exec", dont_inherit=True)


def attempt(do):
    """Returns the exit status of do, as an interpreter would have it."""
    try:
        Turn.interruptible = True
        try:
            do()
        finally:
            Turn.interruptible = False
        return 0
    except SystemExit as end:
        return status(end.code)
    except KeyboardInterrupt:
        show()
        return INTERRUPTED
    except BaseException:
        show()
        return 1


def status(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 255
    complain(str(code) + "\n")
    return 1


def show():
    kind = sys.exc_info()[0]
    try:
        complain(described(traceback.TracebackException(*sys.exc_info())))
    except BaseException as fault:
        complain("%s (and %s while it was described)\n" % (kind.__name__, type(fault).__name__))


def described(exception):
    strip(exception, set())
    if exception.stack:
        return "".join(exception.format())
    return "".join(exception.format_exception_only())


def strip(exception, seen):
    # Leaves the frames of this text out.
    if exception is None or id(exception) in seen:
        return
    seen.add(id(exception))
    exception.stack = traceback.StackSummary.from_list([f for f in exception.stack if f.filename != HERE])
    for other in [exception.__cause__, exception.__context__] + list(getattr(exception, "exceptions", None) or []):
        strip(other, seen)


def complain(text):
    flush()
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(2, data):]


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass


def started(before):
    return [t for t in threading.enumerate() if t not in before]


def join(before):
    # A script ends when its threads have, as a program does. Those of a pool that
    # is kept wait for work for good.
    pools = getattr(sys.modules.get("concurrent.futures.thread"), "_threads_queues", ())
    for thread in started(before):
        if not thread.daemon and thread not in pools:
            thread.join()


def outlive(before):
    # Returns how many threads outlive an interrupt. Joining would not tell: that
    # of a thread may have been what was interrupted.
    end = time.monotonic() + PATIENCE
    while started(before) and time.monotonic() < end:
        time.sleep(0.01)
    return len(started(before))


def run(script):
    number = script["script"]
    try:
        os.chdir(script["dir"] or home)
    except OSError:
        tell({"end": number, "unfit": 'the sandbox has no folder "%s" to work in' % (script["dir"] or home)})
        return 1
    signal.signal(signal.SIGINT, interrupt)
    renew_streams()
    renew_names()
    renew_path(script["user_site"])
    tools.__all__ = script["tools"]
    before = set(threading.enumerate())
    Turn.script, Turn.interrupted = number, False
    code = attempt(lambda: exec(compiled(script["code"]), main.__dict__))
    if os.getpid() != PID:  # a fork that came to the script's end
        flush()
        os._exit(code)
    if not Turn.interrupted:
        code = attempt(lambda: join(before)) or code
    left = outlive(before) if Turn.interrupted else 0
    Turn.script = None
    flush()
    tell({"end": number, "code": code, "dir": folder(), "left": left})
    return code


def folder():
    try:
        return os.getcwd()
    except OSError:
        return ""


def orphan():
    for fd in (FROM, TO):
        try:
            os.close(fd)
        except OSError:
            pass


def serve():
    for fd in (FROM, TO):
        os.set_inheritable(fd, False)
    os.register_at_fork(after_in_child=orphan)
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    signal.signal(signal.SIGINT, interrupt)
    _thread.start_new_thread(speak, ())
    _thread.start_new_thread(hear, ())
    del main.sys
    tell({"ready": home})
    while True:
        script = scripts.get()
        if "rest" in script:
            tell({"rest": script["rest"]})
            continue
        code = run(script)
        if script["last"]:
            sys.exit(code)


serve()
