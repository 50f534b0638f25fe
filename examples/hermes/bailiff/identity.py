"""Who asks: the session of a tool call, as Hermes' gateway says it. Nothing of it comes from a text that a model wrote."""

import hashlib
import os
import uuid

# This process of Hermes: who uses Hermes in a terminal has one, whatever its conversations are called meanwhile.
PROCESS = uuid.uuid4().hex[:12]

# Surfaces of whoever sits at the machine that Hermes runs on.
LOCAL = frozenset({"cli", "tui", "desktop", "local"})
CHAT_TYPES = {"dm": "dm", "private": "dm", "group": "group", "supergroup": "group", "channel": "channel", "thread": "thread",
              "forum": "thread", "topic": "thread"}


class Unknown(Exception):
    """Nobody can say who asks."""


def session(hermes_session_id):
    """The session to ask bailiff for. Raises Unknown where Hermes does not say whose it is."""
    get = _getter()
    task = os.environ.get("HERMES_KANBAN_TASK", "").strip()
    if task:
        return _of_worker(get, task)
    if _is_cron(get):
        return _of_cron(get, hermes_session_id)
    platform = get("HERMES_SESSION_PLATFORM")
    if platform in LOCAL or (not platform and _is_local(get)):
        return _of_owner(get)
    key = get("HERMES_SESSION_KEY")
    if not platform or not key:
        raise Unknown("Hermes' gateway does not say whose session this is, so nobody can judge what it may do")
    return _of_chat(get, platform, key)


def _getter():
    """Hermes' way to read what its gateway knows of the session; without a gateway, the environment."""
    try:
        from gateway.session_context import get_session_env
    except ImportError:
        return lambda name: os.environ.get(name, "").strip()
    return lambda name: str(get_session_env(name, "") or "").strip()


def _is_local(get):
    """Whether this is a Hermes that somebody started for themselves. A gateway says so, or binds sessions."""
    if get("HERMES_SESSION_SOURCE") in LOCAL:
        return True
    if get("HERMES_SESSION_SOURCE") or os.environ.get("HERMES_EXEC_ASK", "").lower() in ("1", "true", "yes"):
        return False
    try:
        from gateway.session_context import session_context_engaged
    except ImportError:
        return True
    return not session_context_engaged()


def _is_cron(get):
    return get("HERMES_CRON_SESSION").lower() in ("1", "true", "yes")


def _of_chat(get, platform, key):
    return {
        "id": _id(get, key),
        "platform": platform,
        "chat_type": _chat_type(get("HERMES_SESSION_CHAT_TYPE")),
        "chat_id": get("HERMES_SESSION_CHAT_ID"),
        "thread_id": get("HERMES_SESSION_THREAD_ID"),
        "user_id": get("HERMES_SESSION_USER_ID"),
        "user_name": get("HERMES_SESSION_USER_NAME"),
        "profile": get("HERMES_SESSION_PROFILE"),
        "unattended": False,
    }


def _of_cron(get, hermes_session_id):
    """A job speaks for whom it was made by, and nobody watches it; one of unknown origin is a platform of its own."""
    platform = get("HERMES_SESSION_PLATFORM")
    if platform in ("", "cron"):
        platform = get("HERMES_CRON_JOB_ORIGIN_PLATFORM") or get("HERMES_CRON_AUTO_DELIVER_PLATFORM") or "cron"
    job = "cron:" + (get("HERMES_CRON_JOB_ID") or get("HERMES_SESSION_ID") or hermes_session_id)
    found = _of_chat(get, platform, job)
    if not get("HERMES_CRON_JOB_ID") and found["id"] == _id(get, "cron:"):
        raise Unknown("Hermes does not say which of its jobs this is")
    found["user_id"] = found["user_id"] or get("HERMES_CRON_JOB_ORIGIN_USER_ID")
    found["unattended"] = True
    found["job"] = job
    return found


def _of_worker(get, task):
    """A worker that Hermes' dispatcher started for one task of a board. Its environment says which, and no model writes that."""
    job = "kanban:%s:%s" % (os.environ.get("HERMES_KANBAN_BOARD", "").strip() or "default", task)
    return {"id": _id(get, job), "platform": "kanban", "chat_type": "dm", "user_id": str(os.getuid()),
            "profile": os.environ.get("HERMES_PROFILE", "").strip(), "unattended": True, "job": job}


def _of_owner(get):
    """Whoever sits at the machine; a process with several windows names each."""
    window = get("HERMES_SESSION_KEY") or get("HERMES_UI_SESSION_ID") or PROCESS
    return {"id": _id(get, "cli:" + window), "platform": "cli", "chat_type": "dm",
            "user_id": str(os.getuid()), "unattended": False}


def _id(get, key):
    """The session of a key of Hermes', which says nothing of its home and profile: another's equal key is another session."""
    home = os.path.realpath(os.environ.get("HERMES_HOME", "").strip() or os.path.expanduser("~/.hermes"))
    whose = "\0".join((home, get("HERMES_SESSION_PROFILE"))).encode("utf-8", "surrogateescape")
    return "hermes:%s:%s" % (hashlib.sha256(whose).hexdigest()[:12], key)


def _chat_type(word):
    """One of bailiff's words. A chat of unknown type may have many people in it."""
    return CHAT_TYPES.get(word.lower(), "group")
