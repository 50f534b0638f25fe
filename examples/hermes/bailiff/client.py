"""Asks a bailiff sidecar to run commands and programs: one file, standard library only, Python 3.9 and later.

    client = Client("unix:///run/bailiff/agent.sock")
    answer = client.execute("terminal", {"command": "git status"}, {"id": "s1", "platform": "cli", "user_id": "1000"})
    print(answer.status, answer.exit_code, answer.output)

What the sidecar says of a request is an Answer, whether it ran or was denied. Everything else is a BailiffError, and
nothing is run here in its stead:

    Unreachable   no sidecar could be asked
    Refused       the sidecar did not take the request, or failed at what runs nothing (code, message, errors)
    Uncertain     it was asked to run something, and how that ended is not known: it may have run
    Stopped       as Uncertain, because stop said so
    BailiffError  any other request was not answered as a sidecar answers

A client may be used by many threads at once; each request has a connection of its own. Ending that (by stop, by an
exception in on_event, by the end of this process) makes the sidecar kill the command with all that it started.
"""

import base64
import binascii
import http.client
import io
import json
import socket
import time
from urllib.parse import quote

__all__ = ["Answer", "BailiffError", "Client", "Decided", "Refused", "Stopped", "Uncertain", "Unreachable"]

STATUSES = ("completed", "denied", "approval_required", "expired", "timeout", "interrupted", "unavailable", "error")
OUTCOMES = ("allow", "ask", "deny")

LARGEST_REQUEST = 1 << 20  # bytes; the sidecar takes no larger one
LARGEST_ANSWER = 64 << 20
LONGEST_RUN = 24 * 60 * 60  # seconds; no command may run longer
GLANCE = 0.2  # seconds between two looks at whether to stop


class BailiffError(Exception):
    """Why there is no answer, in one sentence."""


class Unreachable(BailiffError):
    """No sidecar could be asked, so nothing ran."""


class Refused(BailiffError):
    """The sidecar did not take the request, so nothing ran. errors are its faults: [{"at": "/args/timeout", "message": …}]."""

    def __init__(self, code, message, errors=()):
        super().__init__(message)
        self.code, self.message, self.errors = code, message, list(errors)


class Uncertain(BailiffError):
    """Something may have run. Look before you ask again, or ask with the same request_id."""


class Stopped(Uncertain):
    """The caller's stop() gave up; the sidecar kills what runs."""


class Answer:
    """How a request ended. document is all of it, as docs/agents.md describes it."""

    def __init__(self, document):
        self.document = document
        self.request_id = document["request_id"]
        self.decision_id = document["decision_id"]
        self.status = document["status"]
        self.code = document.get("code", "")
        self.message = document["message"]
        self.exit_code = document["exit_code"]
        self.output_bytes = _decoded(document["output"], document["output_encoding"])
        self.output = self.output_bytes.decode("utf-8", "replace")
        self.truncated = document["truncated"]
        self.duration_seconds = document["duration_seconds"]
        self.backend = document["backend"]
        self.sandbox_id = document["sandbox_id"]
        self.process_id = document["process_id"]
        self.processes = document.get("processes", [])
        self.tool_calls_made = document.get("tool_calls_made", 0)
        self.egress = document.get("egress")
        self.decision = document.get("decision")
        self.approval = document.get("approval")

    @property
    def ok(self):
        """Whether it ran to its end and says that it succeeded."""
        return self.status == "completed" and self.exit_code == 0

    @property
    def withheld(self):
        """Which variables did not enter, in a sentence each; of those that enter for other programs only, where it failed."""
        told = []
        for held in ((self.decision or {}).get("env") or {}).get("withheld") or []:
            sentence = "%s was withheld (%s)" % (held["name"], held["rule"])
            if held["rule"] != "env.program":
                told.append(sentence + ".")
            elif self.exit_code != 0:
                told.append(sentence + ": it enters for its own programs only; send the one command that needs it alone.")
        return told


class Decided:
    """What would happen to a request; decision is all of it."""

    def __init__(self, document):
        _check(document, _DECIDED)
        self.decision_id = document["decision_id"]
        self.decision = document["decision"]
        self.outcome = self.decision["outcome"]

    @property
    def reasons(self):
        """Why it is denied or asked about: [{"rule": …, "message": …}]."""
        return self.decision["denials"] + self.decision.get("approval", {}).get("reasons", [])


class Client:
    """Asks the listener of a sidecar at unix:///path or tcp://host:port; the latter wants a token, or the file that holds it.

    timeout is in seconds: a small answer must be there within it, and a request that runs must give a sign of life that
    often (the sidecar gives one every ten seconds, so thirty is a sensible least).
    """

    def __init__(self, address="unix:///run/bailiff/agent.sock", token=None, token_file=None, timeout=30):
        network, _, where = address.partition("://")
        if network not in ("unix", "tcp") or not where:
            raise ValueError("want unix:///path or tcp://host:port, is " + repr(address))
        host, _, port = where.rpartition(":")
        if network == "tcp" and not (host and port.isascii() and port.isdigit() and int(port) < 1 << 16):
            raise ValueError("want tcp://host:port, is " + repr(address))
        self.address, self.timeout = address, timeout
        self._place = where if network == "unix" else (host.strip("[]"), int(port))
        self._host = where if network == "tcp" else "bailiff"
        self._token, self._token_file = token, token_file

    def execute(self, tool, args, session, *, env=(), backend="", request_id="", wait_seconds=300, deadline=None,
                on_event=None, stop=None):
        """Has a request decided, approved if need be, and run, and returns the Answer.

        deadline is in seconds for all of it; without one it is what the request can take at the longest. on_event(name,
        data) is told what happens meanwhile: "decision", "approval", "output" (its "bytes" as the command wrote them),
        "tool_call" (to be answered with answer_tool). stop() is asked several times a second whether to give up; then this is Stopped.
        """
        request = _request(tool, args, session, env, backend)
        request["wait_seconds"] = wait_seconds
        if request_id:
            request["request_id"] = request_id
        if deadline is None:
            limit = args.get("timeout") if isinstance(args, dict) else None
            deadline = wait_seconds + (limit or LONGEST_RUN) + self.timeout
        text = _written(request)
        with _Exchange(self, deadline, stop, runs=True) as exchange:
            exchange.send("POST", "/v1/execute", text, "text/event-stream")
            for name, data in exchange.events():
                if name == "result":
                    return Answer(data)
                if on_event is not None:
                    exchange.outside(on_event, name, data)

    def decide(self, tool, args, session, *, env=(), backend=""):
        """Says what would happen to a request; nothing is run."""
        return self._ask("POST", "/v1/decide", _request(tool, args, session, env, backend), Decided)

    def end_session(self, session_id):
        """Stops what the session runs and removes its sandboxes; returns how many those were, and how many processes."""
        return self._ask("DELETE", "/v1/sessions/" + quote(session_id, safe=""), None, _ended)

    def register_tools(self, session_id, names):
        """Says which tools of the agent's own the scripts of a session may call."""
        self._ask("POST", "/v1/sessions/" + quote(session_id, safe="") + "/tools", {"tools": list(names)}, None)

    def answer_tool(self, call_id, result=None, error=None):
        """Gives a script what its call came to: any JSON, or what went wrong, in words."""
        answer = {"result": result} if error is None else {"error": error}
        self._ask("POST", "/v1/tool_calls/" + quote(call_id, safe=""), answer, None)

    def _ask(self, method, path, body, shape):
        text = _written(body)
        with _Exchange(self, self.timeout, None, runs=False) as exchange:
            exchange.send(method, path, text, "application/json")
            return shape(exchange.document()) if shape else exchange.nothing()

    def _bearer(self):
        """The token as it is now, since a file's may be replaced."""
        token = self._token
        if self._token_file is not None:
            try:
                with open(self._token_file, encoding="ascii") as file:
                    token = file.read(4096).strip()
            except (OSError, ValueError):
                raise Unreachable("Reading the token failed: %s must be a file of ASCII text that this user may read." % self._token_file) from None
        if token is not None and not (token.isascii() and token.isprintable() and token):
            raise Unreachable("The token is empty or holds what no token can; give the one of the listener.")  # never the token itself
        return token


class _Outside(Exception):
    """The caller's own exception, which is no fault of the exchange."""


class _Exchange:
    """One request on a connection of its own. Whatever goes wrong within it is a BailiffError in the end."""

    def __init__(self, client, seconds, stop, runs):
        self._client, self._runs, self._sent = client, runs, False
        self._line = _Line(client._place, time.monotonic() + seconds, client.timeout, stop)
        self._connection = http.client.HTTPConnection(client._host)
        self._response = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if self._response is not None:
            self._response.close()
        self._line.end()
        if isinstance(error, _Outside):
            raise error.__cause__
        if isinstance(error, (OSError, http.client.HTTPException, ValueError, RecursionError)):
            raise self._fault(error) from None

    def _fault(self, error):
        said = _said(error)
        if not self._sent:
            return Unreachable("No sidecar answers at %s (%s)%s." % (self._client.address, said, _hint(error)))
        if self._runs:
            return Uncertain("The sidecar at %s gave no result (%s), so whether the request ran is unknown." % (self._client.address, said))
        return BailiffError("The sidecar at %s did not answer as one does (%s)." % (self._client.address, said))

    def outside(self, function, *values):
        """Calls a function of the caller's; only after it has returned the sidecar's silence counts."""
        try:
            function(*values)
        except Exception as error:
            raise _Outside from error
        self._line.heard()

    def send(self, method, path, text, accept):
        """Sends the request; an answer that is not 2xx is Refused, or no answer."""
        headers = {"Accept": accept, "Connection": "close", "Content-Type": "application/json"}
        token = self._client._bearer()
        if token is not None:
            headers["Authorization"] = "Bearer " + token
        self._line.connect()
        self._connection.sock = self._line
        self._sent = True
        try:
            self._connection.request(method, path, text, headers)
        except (BrokenPipeError, ConnectionResetError):
            pass  # what it does not take it need not read to the end; it answers, or hung up
        self._response = self._connection.getresponse()
        self._line.heard()
        if self._response.status not in (200, 204):
            self._refuse()
        if self._response.status == 200 and self._response.headers.get_content_type() != accept:
            raise ValueError("it answered no " + accept)

    def _refuse(self):
        status = self._response.status
        problem = _read(self._response.read(LARGEST_REQUEST))
        _check(problem, _PROBLEM)
        if not problem["code"] or not problem["message"]:
            raise ValueError("%d, without a reason" % status)
        if 400 <= status < 500 or status == 503 or not self._runs:
            raise Refused(problem["code"], problem["message"], problem.get("errors") or [])
        raise ValueError("%d: %s" % (status, problem["message"]))

    def nothing(self):
        if self._response.status != 204:
            raise ValueError("it answered something")

    def document(self):
        text = self._response.read(LARGEST_ANSWER + 1)
        if len(text) > LARGEST_ANSWER:
            raise ValueError("its answer is too large")
        return _read(text)

    def events(self):
        """Yields what the sidecar tells, (name, object), and fails where it ends without a result."""
        name, data = "", b""
        while True:
            line = self._response.readline(LARGEST_ANSWER + 1)
            if not line.endswith(b"\n"):
                raise ValueError("its answer is too large" if len(line) > LARGEST_ANSWER else "it went away before the result")
            self._line.heard()
            field, _, value = line.rstrip(b"\r\n").partition(b":")
            value = value[1:] if value.startswith(b" ") else value
            if field == b"event":
                name = value.decode("utf-8")
            elif field == b"data":
                data += value
                if len(data) > LARGEST_ANSWER:
                    raise ValueError("its answer is too large")
            elif not field and not value and data:
                document = _read(data)
                _check(document, _EVENTS.get(name, {}))
                if name == "output":
                    document["bytes"] = _decoded(document["data"], document["encoding"])
                yield name, document
                name, data = "", b""


class _Line:
    """What http.client takes for a socket: one with a time for all of it, and one for silence."""

    def __init__(self, place, end, patience, stop):
        self._place, self._end, self._patience, self._stop, self._socket = place, end, patience, stop, None
        self.heard()

    def heard(self):
        """Notes a sign of life."""
        self._silent = time.monotonic() + self._patience

    def connect(self):
        if isinstance(self._place, tuple):
            self._socket = socket.create_connection(self._place, self._left())
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.settimeout(self._left())
            self._socket.connect(self._place)

    def sendall(self, data):
        self._socket.settimeout(self._left())
        self._socket.sendall(data)

    def receive(self, into):
        """Waits for bytes, and looks meanwhile whether to stop."""
        while True:
            if self._stop is not None and self._stop():
                raise Stopped("The request was stopped; if it ran already, the sidecar kills it.")
            left = self._left()
            self._socket.settimeout(left if self._stop is None else min(left, GLANCE))
            try:
                return self._socket.recv_into(into)
            except socket.timeout:
                continue

    def _left(self):
        left = min(self._end, self._silent) - time.monotonic()
        if left <= 0:
            raise socket.timeout("it took too long")
        return left

    def makefile(self, _mode):
        return io.BufferedReader(_Reader(self))

    def close(self):
        """Does nothing: http.client closes when the head is read, the exchange when all is."""

    def end(self):
        if self._socket is not None:
            self._socket.close()


class _Reader(io.RawIOBase):
    """The bytes of a line."""

    def __init__(self, line):
        self._line = line

    def readable(self):
        return True

    def readinto(self, into):
        return self._line.receive(into)


def _said(error):
    """Words for a fault; never what another program sent, which a terminal might obey."""
    if isinstance(error, http.client.RemoteDisconnected):
        return "it hung up"
    if isinstance(error, http.client.HTTPException):
        return "it speaks no HTTP, or broke off"
    if isinstance(error, (json.JSONDecodeError, UnicodeError, RecursionError)):
        return "it sent no JSON"
    return str(error) or type(error).__name__


def _hint(error):
    """What to do about a sidecar that is not there."""
    if isinstance(error, PermissionError):
        return "; the socket is for other users, see uids in bailiff.yaml"
    if isinstance(error, (ConnectionRefusedError, FileNotFoundError)):
        return "; start one with \"bailiff serve\""
    return ""


def _request(tool, args, session, env, backend):
    request = {"tool": tool, "args": args, "session": session, "env": list(env)}
    if backend:
        request["backend"] = backend
    return request


def _written(body):
    text = b"" if body is None else json.dumps(body, allow_nan=False).encode("ascii")
    if len(text) > LARGEST_REQUEST:
        raise Refused("too_large", "The request is larger than %d bytes." % LARGEST_REQUEST)
    return text


def _not_json(word):
    raise ValueError(word + " is no JSON")


def _read(text):
    return json.loads(text.decode("utf-8"), parse_constant=_not_json)


def _decoded(text, encoding):
    if encoding == "utf8":
        return text.encode("utf-8")
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("its output is no base64") from None


def _ended(document):
    _check(document, _ENDED)
    return document


_REASON = {"rule": str, "message": str}
_DECISION = {"outcome": OUTCOMES, "denials": [_REASON], "approval?": {"reasons": [_REASON]}, "backend": {"name": str}, "env": {},
             "limits": {}, "revision": str}
_DECIDED = {"decision_id": str, "decision": _DECISION}
_APPROVAL = {"id": str, "state": ("pending", "approved", "denied", "expired", "void", "cancelled", "unreachable"), "scope": str, "by": str}
_ANSWER = {"request_id": str, "decision_id": str, "status": STATUSES, "code?": str, "exit_code": int, "output": str,
           "output_encoding": ("utf8", "base64"), "truncated": bool, "duration_seconds": (int, float), "backend": str,
           "sandbox_id": str, "process_id": str, "message": str, "processes?": [{}], "tool_calls_made?": int,
           "egress?": {"blocked": [{}]}, "decision?": _DECISION, "approval?": _APPROVAL}
_OUTPUT = {"seq": int, "data": str, "encoding": ("utf8", "base64")}
_EVENTS = {"decision": _DECIDED, "approval": _APPROVAL, "output": _OUTPUT, "tool_call": {"id": str, "name": str, "arguments": {}},
           "result": _ANSWER}
_ENDED = {"removed": int, "processes": int}
_PROBLEM = {"code": str, "message": str, "errors?": [{"at": str, "message": str}]}


def _check(value, shape, at="answer"):
    """Fails where a value is not of a shape; names that the shape lacks are for later clients."""
    if isinstance(shape, dict):
        fits = isinstance(value, dict)
    elif isinstance(shape, list):
        fits = isinstance(value, list)
    elif isinstance(shape, tuple) and isinstance(shape[0], str):
        fits = value in shape
    else:
        fits = isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
    if not fits:
        raise ValueError("its %s is not what it should be" % at)
    if isinstance(shape, list):
        for one in value:
            _check(one, shape[0], at)
    if isinstance(shape, dict):
        for name, inner in shape.items():
            bare = name.rstrip("?")
            if bare in value or bare == name:
                _check(value.get(bare), inner, bare)
