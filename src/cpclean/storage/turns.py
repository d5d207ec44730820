"""Turns of threads: first come, first served.

A plain lock goes to whoever is quickest when it is released; among fifty people, one may then wait
many times as long as the others.
"""

from __future__ import annotations

from collections import deque
from threading import Lock


class Turns:
    """A lock whose waiting threads are served in order.

    Examples
    --------
    >>> turns = Turns()
    >>> turns.take(1.0), turns.take(0.01)
    (True, False)
    >>> turns.give()
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken = False
        self._waiting: deque[Lock] = deque()

    def take(self, seconds: float) -> bool:
        """Wait for a turn; whether it came in time."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            mine = Lock()
            mine.acquire()
            self._waiting.append(mine)
        if mine.acquire(timeout=seconds):
            return True
        with self._lock:
            if mine not in self._waiting:  # it came at the last moment
                return True
            self._waiting.remove(mine)
            return False

    def give(self) -> None:
        """End a turn: the next in line has it at once."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
