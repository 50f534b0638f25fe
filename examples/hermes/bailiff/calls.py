"""Calls of Hermes' tools as requests to bailiff: terminal, execute_code and process. The file tools are in files.py."""

import ast
import datetime
import os


class Unfit(Exception):
    """These are no arguments of the tool; why, in words for whoever sent them."""


class Request:
    """What bailiff is asked for, and shape, which makes Hermes' result of an answer."""

    def __init__(self, tool, args, shape):
        self.tool, self.args, self.shape = tool, args, shape


class Arguments:
    """The arguments of a call, each taken once; what nobody takes is no argument of the tool."""

    def __init__(self, tool, values):
        if not isinstance(values, dict):
            raise Unfit("%s: the arguments must be an object" % tool)
        self._tool, self._values = tool, dict(values)

    def text(self, name, usual=None):
        value = self._values.pop(name, None)
        value = usual if value is None else value
        if not isinstance(value, str):
            raise Unfit("%s: want a text as %s" % (self._tool, name))
        return value

    def whole(self, name, usual=None, least=0, most=86400):
        value = self._values.pop(name, None)
        if value is None:
            return usual
        if isinstance(value, str) and value.strip().lstrip("-").isdigit():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
            raise Unfit("%s: want a whole number as %s" % (self._tool, name))
        return max(least, min(most, int(value)))

    def truth(self, name):
        value = self._values.pop(name, None)
        if value is None or isinstance(value, bool):
            return bool(value)
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise Unfit("%s: want true or false as %s" % (self._tool, name))

    def any_of(self, names):
        """Drops arguments that change nothing of what runs; returns which of them asked for something."""
        return sorted(name for name in names if self._values.pop(name, None))

    def no_others(self):
        if self._values:
            raise Unfit("%s: there is no argument %s here; nothing was run" % (self._tool, ", ".join(sorted(map(str, self._values)))))


# What Hermes does about background commands, and bailiff does not.
_NEWS = ("notify", "notify_on_complete", "watch_patterns", "heartbeat", "persist_on_release", "check_interval")


def terminal(values):
    a = Arguments("terminal", values)
    command, background = a.text("command"), a.truth("background")
    args = {"command": command, "background": background}
    workdir = a.text("workdir", "")
    if workdir:
        args["workdir"] = workdir
    timeout = a.whole("timeout", None if background else usual_timeout(), least=1)
    if timeout:
        args["timeout"] = timeout
    missing = a.any_of(_NEWS + ("pty",))
    a.no_others()
    if not background:
        return Request("terminal", args, _foreground)
    return Request("terminal", args, lambda answer: _started(answer, missing))


def usual_timeout():
    """Hermes' own for commands, in seconds."""
    try:
        return max(1, int(os.environ.get("TERMINAL_TIMEOUT", "180")))
    except ValueError:
        return 180


def _foreground(answer):
    return _told({"output": answer.output, "exit_code": answer.exit_code, "error": None}, answer)


def _started(answer, missing):
    result = {"output": "Background process started", "session_id": "proc_" + answer.process_id, "exit_code": 0, "error": None}
    result["note"] = "Nothing tells you of its end: use process with action wait, poll or log."
    if missing:
        result["note"] += " Without effect here: %s." % ", ".join(missing)
    return result


def _told(result, answer):
    """Adds what bailiff says about a run that ended well: variables that were lost, output that was left out."""
    notes = [answer.message] if answer.message else []
    if answer.truncated:
        notes.append("The middle of the output was left out.")
    if notes:
        result["note"] = " ".join(notes)
    return result


def execute_code(values):
    a = Arguments("execute_code", values)
    args = {"code": _with_our_tools(a.text("code")), "reset": a.truth("reset")}
    a.no_others()
    return Request("execute_code", args, _script)


def _script(answer):
    result = {"status": "success" if answer.exit_code == 0 else "error", "output": answer.output, "exit_code": answer.exit_code,
              "tool_calls_made": answer.tool_calls_made, "duration_seconds": round(answer.duration_seconds, 3)}
    if answer.exit_code != 0:
        result["error"] = "The script ended with exit code %d; its output says why." % answer.exit_code
    return _told(result, answer)


def _with_our_tools(code):
    """Models are told of a module hermes_tools; in the sandbox it is called bailiff_tools. Only such imports are changed."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code  # its own fault will say so
    lines = code.encode("utf-8").splitlines(keepends=True)
    for node in sorted((n for n in ast.walk(tree) if _is_of_hermes(n)), key=lambda n: (n.lineno, n.col_offset), reverse=True):
        line, at = lines[node.lineno - 1], node.col_offset
        ours = b"import bailiff_tools as hermes_tools" if isinstance(node, ast.Import) else b"from bailiff_tools"
        theirs = b"import hermes_tools" if isinstance(node, ast.Import) else b"from hermes_tools"
        if line[at:].startswith(theirs):
            lines[node.lineno - 1] = line[:at] + ours + line[at + len(theirs):]
    return b"".join(lines).decode("utf-8")


def _is_of_hermes(node):
    if isinstance(node, ast.ImportFrom):
        return node.module == "hermes_tools" and node.level == 0
    return isinstance(node, ast.Import) and len(node.names) == 1 and node.names[0].name == "hermes_tools" and not node.names[0].asname


def process(values):
    a = Arguments("process", values)
    action = a.text("action")
    if action not in _PROCESS:
        raise Unfit("process: there is no action %s here, but %s" % (action, ", ".join(_PROCESS)))
    args = {"action": action}
    given = a.text("session_id", "")
    if action != "list":
        if not given:
            raise Unfit("process: session_id is required for %s" % action)
        args["process_id"] = given.removeprefix("proc_")
    data = a.text("data", "")
    if action in ("write", "submit"):
        args["data"] = data
    timeout = a.whole("timeout", usual_timeout(), least=1)
    args["timeout"] = min(timeout, usual_timeout())
    offset, limit = a.whole("offset", most=1 << 30), a.whole("limit", 200, least=1, most=1 << 30)
    a.no_others()
    return Request("process", args, lambda answer: _PROCESS[action](given, answer, args, offset, limit))


def _listed(_, answer, *__):
    return {"processes": [_process("proc_" + p["process_id"], p) for p in answer.processes]}


def _polled(name, answer, *_):
    return _with_exit({**_process(name, _state(answer)), "output_preview": answer.output}, answer)


def _waited(name, answer, *_):
    result = {"session_id": name, "command": _state(answer).get("command", ""), "output": answer.output}
    if _has_ended(answer):
        return _with_exit({"status": "exited", **result}, answer)
    return {"status": "timeout", **result, "process_running": True,
            "timeout_note": "It is still running, which is no error: wait again, or do something else meanwhile."}


def _logged(name, answer, _, offset, limit):
    lines = answer.output.splitlines()
    shown = lines[-limit:] if offset is None else lines[offset:offset + limit]
    return {"session_id": name, "command": _state(answer).get("command", ""), "status": _word(_state(answer)),
            "output": "\n".join(shown), "total_lines": len(lines), "showing": "%d lines" % len(shown)}


def _killed(name, answer, *_):
    was = _state(answer).get("status") != "interrupted"
    return {"status": "already_exited" if was else "killed", "session_id": name, "exit_code": _state(answer).get("exit_code"),
            "output": answer.output}


def _written(_, __, args, *___):
    sent = args["data"] + ("\n" if args["action"] == "submit" else "")
    return {"status": "ok", "bytes_written": len(sent.encode("utf-8"))}


def _closed(*_):
    return {"status": "ok", "message": "stdin closed"}


_PROCESS = {"list": _listed, "poll": _polled, "wait": _waited, "log": _logged, "kill": _killed, "write": _written,
            "submit": _written, "close": _closed}


def no_process(answer):
    """The result of a call whose process is not there any more."""
    if _has_ended(answer):
        return {"status": "already_exited", "error": answer.message}
    return {"status": "not_found", "error": answer.message}


def _state(answer):
    return answer.processes[0] if answer.processes else {}


def _has_ended(answer):
    return "ended_at" in _state(answer)


def _word(state):
    return "exited" if "ended_at" in state else "running"


def _process(name, state):
    entry = {"session_id": name, "command": state.get("command", "")[:200], "status": _word(state),
             "started_at": state.get("started_at", ""), "uptime_seconds": _uptime(state)}
    if "exit_code" in state:
        entry["exit_code"] = state["exit_code"]
    return entry


def _with_exit(result, answer):
    if _has_ended(answer):
        result["exit_code"] = answer.exit_code
    return result


def _uptime(state):
    try:
        end = _time(state["ended_at"]) if "ended_at" in state else datetime.datetime.now(datetime.timezone.utc)
        return max(0, int((end - _time(state["started_at"])).total_seconds()))
    except (KeyError, TypeError, ValueError):
        return 0


def _time(text):
    """A time of bailiff's, without the part of its second, which has more digits than Python reads."""
    return datetime.datetime.strptime(text[:19] + "+0000", "%Y-%m-%dT%H:%M:%S%z")
