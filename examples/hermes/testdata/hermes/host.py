"""Stands in for Hermes' side of the plug-in contract, as its documentation has it, and is strict about it: an exception
before next_call goes on to the tool, a hook that raises is passed over, next_call works once, and whatever runs a tool of
Hermes' own leaves a mark. Reads one object a line, answers with one a line.

    host.py PLUGIN MARK [old | kindless | hookless | bare | deaf | safe]

old has no middleware, kindless knows none for tools, hookless calls no hook before a tool, bare and deaf call no middleware, safe
loads no plug-in. HOST_BACKEND is terminal.backend of its config.yaml.
"""

import contextvars
import importlib.util
import json
import os
import sys
import threading
import time
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gateway.session_context as session_context
import hermes_cli.middleware
import tools.interrupt
from agent.terminal_env_provider import TerminalEnvironmentProvider

PLUGIN, MARK, KIND = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
BACKEND = os.environ.get("HOST_BACKEND", "local")
SETTINGS = json.loads(os.environ.get("HOST_SETTINGS", "{}"))
printing = threading.Lock()


class Context:
    def __init__(self):
        self.hooks, self.middleware, self.environments = {}, {}, {}
        if KIND == "old":
            self.register_middleware = None

    def register_hook(self, name, callback):
        self.hooks.setdefault(name, []).append(callback)

    def register_middleware(self, name, callback):
        self.middleware.setdefault(name, []).append(callback)

    def register_terminal_environment_provider(self, provider):
        if not isinstance(provider, TerminalEnvironmentProvider):
            raise TypeError("no provider")
        self.environments[provider.name] = provider

    def get_config(self, key, default=None):
        return SETTINGS.get(key, default) if isinstance(SETTINGS, dict) else default

    def dispatch_tool(self, name, args, **_):
        if name == "send_message":
            tell({"sent": args})
            return json.dumps({"success": True})
        if name == "web_search":
            return json.dumps({"found": args["query"].upper()})
        return own(name)

    def __getattribute__(self, name):
        value = object.__getattribute__(self, name)
        if value is None:
            raise AttributeError(name)
        return value


def tell(line):
    with printing:
        print(json.dumps(line), flush=True)


def own(name):
    """A tool of Hermes' own runs, in the environment that config.yaml names."""
    if BACKEND != "local":
        try:
            if BACKEND not in ctx.environments:
                raise ValueError("Unknown environment type: " + BACKEND)
            ctx.environments[BACKEND].create_environment(cwd="/", timeout=180, task_id="default", image=None, container_config={}, host_cwd="/")
        except Exception as error:  # noqa: BLE001
            return json.dumps({"output": "", "exit_code": -1, "error": "Failed to execute command: %s" % error, "status": "error"})
    with open(MARK, "a", encoding="utf-8") as file:
        file.write(name + "\n")
    return json.dumps({"output": "ran on the host", "exit_code": 0, "error": None})


def hooks(name, **payload):
    for callback in ctx.hooks.get(name, []) if KIND != "hookless" or name != "pre_tool_call" else []:
        try:
            yield contextvars.copy_context().run(callback, telemetry_schema_version="v1", **payload)
        except Exception as error:  # noqa: BLE001
            tell({"raised": "%s: %r" % (name, error)})


def chain(callbacks, name, payload, args):
    if not callbacks:
        return own(name)
    called = []

    def next_call(changed=None):
        if called:
            raise RuntimeError("next_call works once")
        called.append(True)
        return chain(callbacks[1:], name, payload, args if changed is None else changed)

    try:
        return callbacks[0](tool_name=name, args=args, original_args=dict(args) if isinstance(args, dict) else args,
                            next_call=next_call, middleware_schema_version="v1", **payload)
    except Exception as error:  # noqa: BLE001
        tell({"raised": "tool_execution: %r" % error})
        return chain(callbacks[1:], name, payload, args)


def call(line):
    name, args, payload = line["tool"], line.get("args"), {"future": "unknown", **line.get("ids", {})}
    session_context.bound.set(line.get("session"))
    for directive in hooks("pre_tool_call", tool_name=name, args=args, **payload):
        if isinstance(directive, dict) and directive.get("action") == "block":
            return json.dumps({"error": directive["message"]}), "blocked"
    middleware = ctx.middleware.get("tool_execution", []) if KIND not in ("bare", "deaf") else []
    result = chain(middleware, name, payload, args)
    return result, "ok" if not json.loads(result).get("error") else "error"


def answer(line):
    begun = time.monotonic()
    result, status = call(line)
    list(hooks("post_tool_call", tool_name=line["tool"], args=line.get("args"), result=result, status=status, **line.get("ids", {})))
    tell({"id": line["id"], "result": result, "seconds": time.monotonic() - begun})


threads = {}
if KIND == "kindless":
    hermes_cli.middleware.VALID_MIDDLEWARE.discard("tool_execution")
session_context.engaged = os.environ.get("HOST_IS_GATEWAY") == "1"
sys.modules["hermes_plugins"] = types.ModuleType("hermes_plugins")
sys.modules["hermes_plugins"].__path__ = []
spec = importlib.util.spec_from_file_location("hermes_plugins.bailiff", os.path.join(PLUGIN, "__init__.py"), submodule_search_locations=[PLUGIN])
plugin = importlib.util.module_from_spec(spec)
sys.modules["hermes_plugins.bailiff"] = plugin
spec.loader.exec_module(plugin)
ctx = Context()
if KIND != "safe":
    plugin.register(ctx)
tell({"ready": sorted(ctx.hooks)})
for text in sys.stdin:
    said = json.loads(text)
    if "tool" in said:
        threads[said["id"]] = threading.Thread(target=answer, args=(said,), daemon=True)
        threads[said["id"]].start()
    elif "interrupt" in said:
        tools.interrupt.threads.add(threads[said["interrupt"]].ident)
    elif "hook" in said:
        list(hooks(said["hook"], **said["payload"]))
        tell({"id": said["id"], "result": "null"})
