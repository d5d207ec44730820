"""How often an address has tried wrong tokens: after some of them, it has to wait."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock

# So many wrong tokens may come from one address within so many seconds.
MOST_WRONG, WITHIN_SECONDS = 20, 60.0
# Addresses that are remembered; whoever tried longest ago goes first.
_MOST_ADDRESSES = 10_000


class WrongTokens:
    """Wrong tokens by the address that they came from.

    Those who are let in already are not asked for a token, and do not wait for anybody.

    Examples
    --------
    >>> wrong = WrongTokens(clock=lambda: 100.0)
    >>> for _ in range(MOST_WRONG):
    ...     wrong.note("10.0.0.7")
    >>> wrong.wait("10.0.0.7"), wrong.wait("10.0.0.8")
    (60.0, 0.0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def note(self, address: str) -> None:
        """A wrong token came from an address."""
        with self._lock:
            times = self._times.setdefault(address, deque(maxlen=MOST_WRONG))
            times.append(self._clock())
            self._times.move_to_end(address)
            while len(self._times) > _MOST_ADDRESSES:
                self._times.popitem(last=False)

    def wait(self, address: str) -> float:
        """How many seconds an address has to wait before its next token is looked at."""
        with self._lock:
            times = self._times.get(address, deque())
            if len(times) < MOST_WRONG:
                return 0.0
            return max(0.0, times[0] + WITHIN_SECONDS - self._clock())
