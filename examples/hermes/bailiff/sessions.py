"""Ends bailiff's sessions when Hermes' do. Hermes names a conversation by an id that changes with /new, while its key, by
which bailiff knows it, stays; so who enters a session whose last conversation is over waits until its sandbox is gone.
"""

import collections
import logging
import threading

logger = logging.getLogger(__name__)

MOST_REMEMBERED = 4096


class Sessions:
    """Which conversation is in which session. end(session) removes a sandbox, or raises."""

    def __init__(self, end):
        self._end = end
        self._lock = threading.Lock()
        self._of = collections.OrderedDict()  # conversation: session, or none when it is over
        self._stale = {}  # session to be ended: who does it
        self._new = collections.OrderedDict()  # conversations that follow one nobody knew

    def enter(self, conversation, session):
        """Notes that a conversation is in a session, and ends what was there before it. Raises where that fails."""
        with self._lock:
            if conversation:
                if self._new.pop(conversation, False):
                    self._stale.setdefault(session, threading.Lock())
                _remember(self._of, conversation, session)
        self._settle(session)

    def over(self, conversation, successor=""):
        """Notes that a conversation is over, and begins to end its session."""
        with self._lock:
            known = conversation in self._of
            session = self._of.get(conversation)
            if known:
                self._of[conversation] = None
            if session:
                self._stale.setdefault(session, threading.Lock())
            elif successor and not known:
                _remember(self._new, successor, True)
        if session:
            # Hermes calls this where it must not wait; a thread that is no daemon lets it exit only after it.
            threading.Thread(target=self._settle_quietly, args=(session,), name="bailiff-session-end").start()

    def _settle_quietly(self, session):
        try:
            self._settle(session)
        except Exception as error:  # noqa: BLE001 - the next call in the session tries again
            logger.warning("the sandbox of %s stays until it is idle: %s", session, error)

    def _settle(self, session):
        lock = self._stale.get(session)
        if lock is None:
            return
        with lock:
            if session in self._stale:
                self._end(session)
                self._stale.pop(session, None)


def _remember(where, key, value):
    where[key] = value
    where.move_to_end(key)
    if len(where) > MOST_REMEMBERED:
        where.popitem(last=False)
