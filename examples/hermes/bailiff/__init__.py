"""bailiff for Hermes Agent: the tools that run commands or touch files are judged, and run, by a bailiff sidecar.

Hermes takes an exception in a plug-in for a reason to go on without it. So nothing here raises: whatever goes wrong, from
a module that cannot be imported to a sidecar that is not there, blocks the call. Two belts hold each guarded tool: the
tool_execution middleware runs it in the session's sandbox instead of on this machine, and the pre_tool_call hook blocks
it where the middleware is not in place or the policies deny it. A third is config.yaml's: terminal.backend: bailiff.
"""

import json
import logging

logger = logging.getLogger(__name__)

GUARDED = frozenset({"terminal", "execute_code", "process", "read_file", "write_file", "patch", "search_files"})


def register(ctx):
    """Called by Hermes once, at its start."""
    try:
        from .gate import Gate

        gate = Gate(ctx, GUARDED)
    except Exception as error:  # noqa: BLE001 - Hermes would go on without us
        gate = _Wall("bailiff's plug-in could not start: %s" % error)
        logger.error("%s", gate.why)
    ctx.register_hook("pre_tool_call", gate.before)
    missing = _plug_in(ctx, gate)
    gate.why = gate.why or missing
    _offer_nowhere(ctx)
    if gate.why:
        logger.error("All guarded tools are blocked: %s", gate.why)
    for name, hook in (("post_tool_call", gate.after), ("on_session_finalize", gate.finalized), ("on_session_reset", gate.reset)):
        ctx.register_hook(name, hook)


def _plug_in(ctx, gate):
    """Puts the middleware in place; returns why it is not."""
    try:
        from hermes_cli.middleware import VALID_MIDDLEWARE

        if "tool_execution" in VALID_MIDDLEWARE:
            ctx.register_middleware("tool_execution", gate.instead)
            return ""
    except Exception as error:  # noqa: BLE001
        logger.error("registering the middleware failed: %s", error)
    return "this Hermes has no tool_execution middleware, without which its tools would run on this machine; update Hermes to 0.21 or later"


def _offer_nowhere(ctx):
    """Lets config.yaml say terminal.backend: bailiff. Without, such a setting blocks Hermes' own tools all the same."""
    try:
        from .environment import Nowhere

        ctx.register_terminal_environment_provider(Nowhere())
    except Exception as error:  # noqa: BLE001
        logger.warning("this Hermes takes no environment of a plug-in's: %s", error)


class _Wall:
    """A gate that lets nothing through."""

    def __init__(self, why):
        self.why = why

    def before(self, tool_name="", **_):
        return {"action": "block", "message": "BLOCKED: " + self.why} if tool_name in GUARDED else None

    def instead(self, tool_name="", args=None, next_call=None, **_):
        if tool_name not in GUARDED:
            return next_call(args)
        return json.dumps({"output": "", "exit_code": -1, "error": "BLOCKED: " + self.why, "status": "blocked"})

    def after(self, **_):
        """Nothing is to be looked at."""

    finalized = reset = after
