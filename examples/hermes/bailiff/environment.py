"""The environment "bailiff", for terminal.backend in Hermes' config.yaml: a place where Hermes itself can run nothing.

Guarded tools never reach it, since the middleware answers them. Whatever gets past the middleware, such as a tool that
another plug-in dispatches, finds no place to run; and where this plug-in is not loaded at all, as in safe mode, Hermes knows
no environment of that name and runs nothing either.
"""

from agent.terminal_env_provider import TerminalEnvironmentProvider


class Nowhere(TerminalEnvironmentProvider):
    name = "bailiff"
    display_name = "bailiff"
    is_remote = True
    is_container = True
    skip_container_guards = False
    env_description = "a sandbox of bailiff's (Linux), apart from the machine that Hermes runs on"

    def is_available(self):
        return True  # else Hermes would not offer its tools, which the middleware answers

    def create_environment(self, **_):
        raise RuntimeError("BLOCKED: this call went past bailiff's plug-in, so nothing was run")
