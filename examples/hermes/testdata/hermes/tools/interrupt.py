"""As Hermes tells a tool that its user wants something else."""

import threading

threads = set()


def is_interrupted():
    return threading.get_ident() in threads
