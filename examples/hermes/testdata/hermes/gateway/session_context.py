"""As Hermes' gateway binds and tells who a message came from."""

import contextvars
import os

bound = contextvars.ContextVar("bound", default=None)
engaged = False


def session_context_engaged():
    return engaged


def get_session_env(name, default=""):
    values = bound.get()
    return os.getenv(name, default) if values is None else values.get(name, "")
