"""Calls bailiff's plug-in as Hermes does, with a command that must be denied, and tells what came of it.

Reads {"modules", "settings", "command", "platforms", "nowhere"} and prints a list with one object a call.
"""

import importlib
import importlib.abc
import importlib.util
import json
import os
import sys
import types

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
        return job["settings"].get(name, default)

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
    sys.modules["hermes_plugins"] = types.ModuleType("hermes_plugins")
    sys.modules["hermes_plugins"].__path__ = []
    sys.meta_path.append(Shipped())
    return importlib.import_module(Shipped.NAME)


def speak_for(platform):
    os.environ.update({"HERMES_SESSION_PLATFORM": platform, "HERMES_SESSION_KEY": "agent:main:%s:dm:bailiff-doctor" % platform,
                       "HERMES_SESSION_CHAT_ID": "bailiff-doctor", "HERMES_SESSION_CHAT_TYPE": "dm", "HERMES_SESSION_USER_ID": "bailiff-doctor"})


def decided(context):
    """Asks /v1/decide by the plug-in's own client."""
    client, identity, settings = (importlib.import_module("hermes_plugins.bailiff." + name) for name in ("client", "identity", "settings"))
    how = settings.Settings(context)
    asked = client.Client(how.listen, token_file=how.token_file, timeout=how.timeout)
    return asked.decide("terminal", arguments, identity.session("bailiff-doctor")).outcome


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
        return {"platform": platform, "error": str(error)}
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


shipped = load()
told = [tried(shipped, platform) for platform in job["platforms"]]
told.append(tried_nowhere(shipped))
json.dump(told, sys.stdout)
