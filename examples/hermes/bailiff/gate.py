"""The gate: every call of a guarded tool goes through here, and comes out as a result of bailiff's or as a blocked one."""

import collections
import contextvars
import hashlib
import json
import logging
import threading

from . import calls, files, identity, results
from .client import BailiffError, Client, Stopped
from .sessions import Sessions
from .settings import Settings

logger = logging.getLogger(__name__)

TOOLS = {"terminal": calls.terminal, "execute_code": calls.execute_code, "process": calls.process,
         "read_file": files.read_file, "write_file": files.write_file, "patch": files.patch, "search_files": files.search_files}

MOST_PASSED = 1024
SOON = 60  # seconds
LONGEST_PRINTED = 50000  # bytes


class Gate:
    """What the plug-in registers. why says why nothing may pass, and is empty when all is in place."""

    def __init__(self, ctx, guarded):
        if set(TOOLS) != guarded:
            raise ValueError("the plug-in's folder is not whole; copy all of it again")
        self.why = ""
        self._ctx, self._settings = ctx, Settings(ctx)
        self._client = Client(self._settings.listen, token_file=self._settings.token_file, timeout=self._settings.timeout)
        self._sessions = Sessions(self._client.end_session)
        self._passed = collections.OrderedDict()  # calls that the hook let pass and the middleware has not seen yet
        self._lock = threading.Lock()

    def before(self, tool_name="", args=None, session_id="", tool_call_id="", **_):
        """The hook pre_tool_call: the second belt."""
        if tool_name not in TOOLS:
            return None
        why = self._objection(tool_name, args, session_id)
        if why:
            return {"action": "block", "message": "BLOCKED: " + why}
        self._note_passed(tool_call_id)
        return None

    def _objection(self, tool, args, session_id):
        if self.why:
            return self.why
        try:
            request = self._request(tool, args)
            decided = self._client.decide(request.tool, request.args, identity.session(session_id), env=self._settings.env)
        except calls.Unfit as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - doubt blocks
            return _said(error)
        if decided.outcome != "deny":
            return ""
        return _why(decided.reasons) or "the policies deny it"

    def instead(self, tool_name="", args=None, next_call=None, session_id="", tool_call_id="", **about):
        """The middleware tool_execution: runs a guarded tool in the session's sandbox, never on this machine."""
        if tool_name not in TOOLS:
            return next_call(args)
        try:
            self._take_passed(tool_call_id)
            result = self._run(tool_name, args, session_id, _request_id(tool_name, args, session_id, tool_call_id, **about))
            return json.dumps(result, ensure_ascii=False)
        except (KeyboardInterrupt, SystemExit):
            raise  # whoever ends Hermes; it takes these for no reason to go on
        except BaseException as error:  # noqa: BLE001 - Hermes would run the tool itself
            return json.dumps(results.blocked(tool_name, _said(error)))

    def _run(self, tool, args, conversation, request_id):
        if self.why:
            return results.blocked(tool, self.why)
        try:
            request, session = self._request(tool, args), identity.session(conversation)
            self._sessions.enter(conversation, session["id"])
            if tool == "execute_code" and self._settings.tools:
                self._client.register_tools(session["id"], self._settings.tools)
            return self._ask(tool, request, session, request_id)
        except calls.Unfit as error:
            return results.unfit(tool, str(error))

    def _request(self, tool, args):
        request = TOOLS[tool](args)
        if request.tool == "execute_code":
            request.args["timeout"] = self._settings.script_seconds
        return request

    @staticmethod
    def _seconds(request):
        """How long a request may run, or may take to begin in the background."""
        return SOON if request.args.get("background") else request.args.get("timeout", SOON)

    def _ask(self, tool, request, session, request_id):
        news = _News(self._ctx, self._client, session, self._settings.tools)
        wait = self._settings.wait_seconds
        try:
            answer = self._client.execute(request.tool, request.args, session, env=self._settings.env, request_id=request_id,
                                          wait_seconds=wait, deadline=wait + self._seconds(request) + self._settings.timeout,
                                          on_event=news, stop=_interruption())
        except Stopped:
            return results.interrupted(tool, news.output())
        return _result(tool, request, answer)

    def after(self, tool_name="", tool_call_id="", status="", **_):
        """The hook post_tool_call: a guarded tool that ran past the middleware is the last one that did."""
        if tool_name in TOOLS and self._take_passed(tool_call_id) and status in ("ok", "success"):
            self.why = "%s ran past bailiff's middleware; find out how, then restart Hermes" % tool_name
            logger.critical("All guarded tools are blocked: %s", self.why)

    def finalized(self, session_id="", platform="", reason="", **_):
        """The hook on_session_finalize. A gateway that stops is not the end of its chats' sessions."""
        if platform in identity.LOCAL or reason not in ("shutdown", "process_exit"):
            self._sessions.over(session_id or "")

    def reset(self, session_id="", old_session_id="", **_):
        """The hook on_session_reset."""
        self._sessions.over(old_session_id or "", successor=session_id or "")

    def _note_passed(self, call):
        with self._lock:
            if call:
                self._passed[call] = True
            if len(self._passed) > MOST_PASSED:
                self._passed.popitem(last=False)

    def _take_passed(self, call):
        with self._lock:
            return self._passed.pop(call, False)


def _result(tool, request, answer):
    if answer.status == "error" and answer.code == "no_such_process":
        return calls.no_process(answer)
    try:
        return results.ended(tool, answer, request.shape)
    except files.NotThere as error:
        return {"error": str(error)}


def _said(error):
    """Why a call is blocked, in one sentence; only our own words are shown as they are."""
    if isinstance(error, (BailiffError, identity.Unknown)):
        return str(error)
    logger.error("a guarded call failed", exc_info=error)
    return "bailiff's plug-in failed at this call (%s); Hermes' log says how" % type(error).__name__


def _request_id(tool, args, session_id, tool_call_id, turn_id="", api_request_id="", **_):
    """The same for a call that Hermes makes again, so that it runs once. Ids of calls alone repeat with some providers."""
    if not tool_call_id or not (turn_id or api_request_id):
        return ""
    words = [tool, session_id, turn_id, api_request_id, tool_call_id, args]
    return "hermes-" + hashlib.sha256(json.dumps(words, sort_keys=True, default=str).encode("utf-8", "replace")).hexdigest()[:40]


def _interruption():
    """What says whether the user wants Hermes to stop what this thread does, if this Hermes can say it."""
    try:
        from tools.interrupt import is_interrupted
    except ImportError:
        return None
    return is_interrupted


class _News:
    """What happens while a request runs."""

    def __init__(self, ctx, client, session, tools):
        self._ctx, self._client, self._session, self._tools = ctx, client, session, tools
        self._told, self._printed = "", b""

    def __call__(self, name, data):
        if name == "approval":
            self._approval(data)
        elif name == "tool_call":
            self._call(data)
        elif name == "output":
            self._printed = (self._printed + data["bytes"])[-LONGEST_PRINTED:]

    def output(self):
        """The last that came before an interruption."""
        return self._printed.decode("utf-8", "replace")

    def _approval(self, approval):
        """Tells the chat who can answer and where, once, and does not wait for the message to arrive."""
        if approval.get("state") != "pending" or self._told == approval.get("id") or not self._session.get("chat_id"):
            return
        self._told = approval.get("id")
        text = "⏸ An approval is needed before I can go on. " + str(approval.get("message") or "")
        if approval.get("url"):
            text += "\n" + str(approval["url"])
        target = ":".join(filter(None, (self._session["platform"], self._session["chat_id"], self._session["thread_id"])))
        send = contextvars.copy_context().run
        threading.Thread(target=send, args=(self._send, target, text), name="bailiff-approval", daemon=True).start()

    def _send(self, target, text):
        try:
            said = self._ctx.dispatch_tool("send_message", {"action": "send", "target": target, "message": text})
            if json.loads(said).get("error"):
                raise ValueError("Hermes' send_message failed")
        except Exception as error:  # noqa: BLE001 - the tool's result tells it too
            logger.warning("the chat was not told of an approval that is needed: %s", error)

    def _call(self, call):
        """Runs a tool of Hermes' own for a script."""
        try:
            if call["name"] not in self._tools or call["name"] in TOOLS:
                raise ValueError("the plug-in's setting tools does not name %s" % call["name"])
            said = self._ctx.dispatch_tool(call["name"], call["arguments"])
            self._client.answer_tool(call["id"], _value(said))
        except Exception as error:  # noqa: BLE001 - the script is told
            self._client.answer_tool(call["id"], error="%s failed: %s" % (call.get("name"), error))


def _why(reasons):
    """What was found, by which rules and where, and what would be allowed instead, each once."""
    found, instead = {}, {}
    for reason in reasons:
        where = found.setdefault("%s (%s" % (reason["message"].rstrip("."), reason["rule"]), [])
        match = " ".join(str(reason.get("match", "")).split())[:100]
        if match and match not in where and len(where) < 3:
            where.append(match)
        if reason.get("instead"):
            instead[str(reason["instead"])] = True
    said = [about + (": " + ", ".join(where) if where else "") + ")." for about, where in found.items()]
    if instead:
        said.append("Instead: " + " ".join(instead))
    return " ".join(said)


def _value(text):
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text if isinstance(text, str) else str(text)
