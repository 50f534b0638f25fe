"""What whoever runs Hermes may set: in config.yaml below plugins.entries.bailiff.settings, or, stronger since an agent
cannot write it, in the service's environment as BAILIFF_LISTEN, BAILIFF_TOKEN_FILE, BAILIFF_ENV, BAILIFF_TOOLS,
BAILIFF_SCRIPT_SECONDS, BAILIFF_WAIT_SECONDS, BAILIFF_TIMEOUT (lists with commas).
"""

import os


class Settings:
    """The settings as they were when Hermes started."""

    def __init__(self, ctx):
        self.listen = _text(_set(ctx, "listen", "unix:///run/bailiff/agent.sock"), "listen")
        self.token_file = _text(_set(ctx, "token_file", ""), "token_file") or None
        self.env = _names(_set(ctx, "env", []), "env")
        self.tools = _names(_set(ctx, "tools", []), "tools")
        self.script_seconds = _whole(_set(ctx, "script_seconds", 300), "script_seconds", 1)
        self.wait_seconds = _whole(_set(ctx, "wait_seconds", 300), "wait_seconds", 0)
        self.timeout = _whole(_set(ctx, "timeout", 20), "timeout", 1)


def _set(ctx, name, usual):
    environment = os.environ.get("BAILIFF_" + name.upper())
    if environment is not None:
        return environment
    get = getattr(ctx, "get_config", None)  # Hermes has it since settings of plug-ins exist
    found = get(name, default=None) if get is not None else None
    return usual if found is None else found


def _text(value, name):
    if not isinstance(value, str):
        raise ValueError("the setting %s must be a text" % name)
    return value.strip()


def _names(value, name):
    if isinstance(value, str):
        value = [one.strip() for one in value.split(",") if one.strip()]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("the setting %s must be a list of names" % name)
    return list(value)


def _whole(value, name, least):
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError("the setting %s must be a whole number of seconds, %d at least" % (name, least))
    return value
