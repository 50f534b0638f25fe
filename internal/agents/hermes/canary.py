"""Calls bailiff's plug-in as Hermes does, with a command that must be denied, and tells what came of it.

Reads {"modules", "entry", "command", "platforms", "nowhere", "patience"} and prints {"settings", "calls"}: what is wrong with
the plug-in's settings, else one object a call.
"""

import importlib
import importlib.abc
import importlib.util
import json
import os
import sys
import types

if sys.version_info < (3, 11):
    sys.exit("it is Python %d.%d, and Hermes and its plug-in need 3.11; put that of Hermes first in PATH" % sys.version_info[:2])
job = json.load(sys.stdin)
arguments = {"command": job["command"]}
identifiers = {"session_id": "bailiff-doctor", "task_id": "bailiff-doctor", "tool_call_id": "", "turn_id": "", "api_request_id": ""}


class Context:
    """What Hermes hands to a plug-in, as far as this one takes it."""

    def __init__(self):
        self.hooks, self.middleware = {}, {}

    def register_hook(self, name, callback):
        self.hooks[name] = callback

    def register_middleware(self, name, callback):
        self.middleware[name] = callback

    def get_config(self, name, default=None):
        for section in ("settings", "config"):
            if name in job["entry"].get(section, {}):
                return job["entry"][section][name]
        return default

    def dispatch_tool(self, name, arguments, **_):
        raise RuntimeError("there is no tool here")


class Shipped(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds the plug-in in what was read, so that nothing is run that lies in a home."""

    NAME = "hermes_plugins.bailiff"

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if self._known(name) in job["modules"] else None

    def is_package(self, name):
        return name == self.NAME

    def get_source(self, name):
        return job["modules"][self._known(name)]

    def _known(self, name):
        return "__init__.py" if name == self.NAME else name.removeprefix(self.NAME + ".") + ".py"


def load():
    middleware = types.ModuleType("hermes_cli.middleware")
    middleware.VALID_MIDDLEWARE = {"tool_execution"}
    sys.modules["hermes_cli"], sys.modules["hermes_cli.middleware"] = types.ModuleType("hermes_cli"), middleware
    config = types.ModuleType("hermes_cli.config")
    config.load_config_readonly = lambda: {"plugins": {"entries": {"bailiff": job["entry"]}}}
    sys.modules["hermes_cli.config"] = config
    sys.modules["hermes_plugins"] = types.ModuleType("hermes_plugins")
    sys.modules["hermes_plugins"].__path__ = []
    sys.meta_path.append(Shipped())
    return importlib.import_module(Shipped.NAME)


def speak_for(platform):
    os.environ.update({"HERMES_SESSION_PLATFORM": platform, "HERMES_SESSION_KEY": "agent:main:%s:dm:bailiff-doctor" % platform,
                       "HERMES_SESSION_CHAT_ID": "bailiff-doctor", "HERMES_SESSION_CHAT_TYPE": "dm", "HERMES_SESSION_USER_ID": "bailiff-doctor"})


def of(name):
    return importlib.import_module("hermes_plugins.bailiff." + name)


def decided(context):
    """Asks /v1/decide by the plug-in's own client."""
    how = of("settings").Settings(context)
    asked = of("client").Client(how.listen, token_file=how.token_file, timeout=min(how.timeout, job["patience"]))
    return asked.decide("terminal", arguments, of("identity").session("bailiff-doctor")).outcome


def called(context):
    """Calls the hook and the middleware, as Hermes would with a tool that a model asked for."""
    ran = []

    def run(*_):
        ran.append(True)
        return "{}"

    told = {"hook": "", "result": "", "raised": ""}
    try:
        told["hook"] = json.dumps(context.hooks["pre_tool_call"](tool_name="terminal", args=dict(arguments), **identifiers))
        told["result"] = context.middleware["tool_execution"](
            tool_name="terminal", args=dict(arguments), original_args=dict(arguments), next_call=run, **identifiers)
    except BaseException as error:  # whatever Hermes would take for leave to go on
        told["raised"] = repr(error)
    told["ran"] = bool(ran)
    return told


def tried(plugin, platform):
    """Nothing is called unless the policies deny it first."""
    speak_for(platform)
    context = Context()
    plugin.register(context)
    try:
        outcome = decided(context)
    except Exception as error:
        return {"platform": platform, "error": str(error), "code": getattr(error, "code", ""),
                "gone": isinstance(error, of("client").BailiffError) and not isinstance(error, of("client").Refused)}
    told = {"platform": platform, "outcome": outcome}
    if outcome == "deny":
        told.update(called(context))
    return told


def tried_nowhere(plugin):
    """The same with no sidecar to ask."""
    os.environ["BAILIFF_LISTEN"] = job["nowhere"]
    speak_for(job["platforms"][0])
    context = Context()
    plugin.register(context)
    return dict(called(context), platform="", outcome="deny")


def refused():
    """What is wrong with the settings; empty if nothing is."""
    try:
        how = of("settings").Settings(Context())
        of("client").Client(how.listen)
    except Exception as error:
        return str(error)
    return ""


def all_tried(plugin):
    """One after the other; a sidecar that does not answer one is not asked by the others."""
    told = []
    for platform in job["platforms"]:
        told.append(tried(plugin, platform))
        if told[-1].get("gone"):
            break
    return told + [tried_nowhere(plugin)]


shipped = load()
why = refused()
json.dump({"settings": why, "calls": [] if why else all_tried(shipped)}, sys.stdout)
