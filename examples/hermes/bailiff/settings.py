"""What whoever runs Hermes may set: in config.yaml below plugins.entries.bailiff.settings, or, stronger since an agent
cannot write it, in the service's environment as BAILIFF_LISTEN, BAILIFF_TOKEN_FILE, BAILIFF_ENV, BAILIFF_TOOLS,
BAILIFF_SCRIPT_SECONDS, BAILIFF_WAIT_SECONDS, BAILIFF_TIMEOUT (lists with commas).

A setting that cannot be meant is an error, which blocks everything: the usual in its stead would go unseen.
"""

import difflib
import json
import os

NAMES = ("listen", "token_file", "env", "tools", "script_seconds", "wait_seconds", "timeout")


class Settings:
    """The settings as they were when Hermes started."""

    def __init__(self, ctx):
        self._at = "plugins.entries.%s." % getattr(ctx, "plugin_id", "bailiff")
        for section in ("settings", "config"):  # the latter is their old name
            self._check_names(self._at + section, _said(self._at + section))
        self.listen = self._address(ctx)
        self.token_file = self._text(ctx, "token_file", "") or None
        self.env = self._names(ctx, "env")
        self.tools = self._names(ctx, "tools")
        self.script_seconds = self._seconds(ctx, "script_seconds", 300, 1)
        self.wait_seconds = self._seconds(ctx, "wait_seconds", 300, 0)
        self.timeout = self._seconds(ctx, "timeout", 20, 1)

    def _check_names(self, section, said):
        for name in said:
            if name not in NAMES:
                near = difflib.get_close_matches(str(name), NAMES, 1)
                meant = "nearest is %s" % near[0] if near else "known are " + ", ".join(NAMES)
                raise ValueError("%s.%.80s is no setting; %s" % (section, name, meant))

    def _address(self, ctx):
        value = self._text(ctx, "listen", "unix:///run/bailiff/agent.sock")
        network, _, where = value.partition("://")
        if network not in ("unix", "tcp") or not where:
            raise self._wrong("listen", value, "unix:///path or tcp://host:port")
        return value

    def _text(self, ctx, name, usual):
        value = _set(ctx, name, usual)
        if not isinstance(value, str):
            raise self._wrong(name, value, "a text")
        return value.strip()

    def _names(self, ctx, name):
        value = _set(ctx, name, [])
        names = [one.strip() for one in value.split(",") if one.strip()] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise self._wrong(name, value, "a list of names")
        return list(names)

    def _seconds(self, ctx, name, usual, least):
        value = _set(ctx, name, usual)
        seconds = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
        if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds < least:
            raise self._wrong(name, value, "a whole number of seconds, %d at least" % least)
        return seconds

    def _wrong(self, name, value, want):
        at = _variable(name) if _variable(name) in os.environ else self._at + "settings." + name
        return ValueError("%s is %.80s, want %s" % (at, json.dumps(value, default=str), want))


def _said(path):
    """A section of config.yaml as a whole. Where this Hermes does not show it, its names go unchecked."""
    try:
        from hermes_cli.config import load_config_readonly
    except ImportError:
        return {}
    section, walked = load_config_readonly(), []
    for name in path.split("."):
        section = _mapping(section, ".".join(walked)).get(name)
        walked.append(name)
    return _mapping(section, path)


def _mapping(section, path):
    if section is None:
        return {}
    if not isinstance(section, dict):
        raise ValueError("%s is %.80s, want a mapping" % (path or "config.yaml", json.dumps(section, default=str)))
    return section


def _variable(name):
    return "BAILIFF_" + name.upper()


def _set(ctx, name, usual):
    environment = os.environ.get(_variable(name))
    if environment is not None:
        return environment
    get = getattr(ctx, "get_config", None)  # Hermes has it since settings of plug-ins exist
    found = get(name, default=None) if get is not None else None
    return usual if found is None else found
