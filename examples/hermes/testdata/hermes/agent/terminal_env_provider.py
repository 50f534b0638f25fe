"""As much of Hermes' contract for environments as a plug-in must fulfil."""

import abc


class TerminalEnvironmentProvider(abc.ABC):
    is_remote = True
    is_container = True

    @property
    @abc.abstractmethod
    def name(self):
        """The word for terminal.backend."""

    @property
    @abc.abstractmethod
    def display_name(self):
        """What people read."""

    @property
    def skip_container_guards(self):
        return self.is_container

    @abc.abstractmethod
    def is_available(self):
        """Whether it can serve."""

    @abc.abstractmethod
    def create_environment(self, *, cwd, timeout, task_id="default", image=None, container_config=None, **kwargs):
        """An environment to execute in."""
