"""Who is here: which names were used lately, and in which browsers."""

from __future__ import annotations

import time
from threading import Lock

RECENT_SECONDS = 600.0
_MOST = 10_000  # browsers that are remembered


class Presence:
    """Names and browsers that this server has seen, as long as it runs.

    Examples
    --------
    >>> presence = Presence()
    >>> presence.seen("one browser", "Anna")
    >>> presence.elsewhere("another", "anna")[0]
    'Anna'
    >>> presence.elsewhere("one browser", "Anna") is None
    True
    >>> presence.free_name("Anna", ["Anna (2)"])
    'Anna (3)'
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: dict[tuple[str, str], tuple[float, str]] = {}  # by browser and name

    def seen(self, browser: str, who: str) -> None:
        """Somebody has just asked for something."""
        with self._lock:
            key = browser, who.casefold()
            self._seen.pop(key, None)  # so that it comes last
            self._seen[key] = time.monotonic(), who
            if len(self._seen) > _MOST:
                del self._seen[next(iter(self._seen))]

    def left(self, browser: str, who: str) -> None:
        """Whoever used a name in a browser has chosen another."""
        with self._lock:
            self._seen.pop((browser, who.casefold()), None)

    def knows(self, browser: str, who: str) -> bool:
        """Whether a browser has used a name."""
        with self._lock:
            return (browser, who.casefold()) in self._seen

    def elsewhere(self, browser: str, who: str) -> tuple[str, float] | None:
        """A name as another browser has it, and how many seconds ago; None if not lately."""
        now, key = time.monotonic(), who.casefold()
        with self._lock:
            found = [
                (spelled, now - at)
                for (where, name), (at, spelled) in self._seen.items()
                if name == key and where != browser and now - at < RECENT_SECONDS
            ]
        return min(found, key=lambda one: one[1], default=None)

    def here(self) -> list[tuple[str, float]]:
        """Who was here lately, and how many seconds ago, by name."""
        now, found = time.monotonic(), dict[str, float]()
        with self._lock:
            for at, name in self._seen.values():
                if now - at < RECENT_SECONDS:
                    found[name] = min(now - at, found.get(name, RECENT_SECONDS))
        return sorted(found.items())

    def free_name(self, who: str, used: list[str]) -> str:
        """The same name with a number that nobody uses."""
        with self._lock:
            taken = {name for _, name in self._seen} | {one.casefold() for one in used}
        number = 2
        while f"{who} ({number})".casefold() in taken:
            number += 1
        return f"{who} ({number})"
