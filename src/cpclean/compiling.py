"""One line for a person who waits: the kernels are being compiled, once.

Numba compiles a kernel when it is called for the first time, and saves it beside the sources.
Whoever calls kernels says `watch()` before. As soon as compiling has taken two seconds in a
process, a line on standard error says what is going on; never more than one.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

PATIENCE = 2.0  # seconds
WORDS = (
    "cpclean: compiling for the first use, once; about {left}. "
    "The compiled code is saved beside the package."
)
# What the kernels of a first session take together, on a laptop.
USUAL = "a minute"

_watching = False


def watch() -> None:
    """Say it when kernels are compiled for long, from now on; to call this twice is fine."""
    global _watching
    if _watching:
        return
    _watching = True
    from numba.core import event

    notice = Notice()

    class Listener(event.Listener):  # type: ignore[misc, unused-ignore]
        def on_start(self, event: Any) -> None:
            notice.begin(event.data["dispatcher"].py_func)

        def on_end(self, event: Any) -> None:
            notice.end(event.data["dispatcher"].py_func)

    register: Any = event.register  # untyped
    register("numba:compile", Listener())


class Notice:
    """Adds up how long kernels of ours have been compiled, and speaks once.

    Kernels that a kernel calls are compiled within its own compilation: only the outermost counts.
    Numba compiles one at a time, whatever the number of threads.
    """

    def __init__(self) -> None:
        self._outermost: Any = None
        self._spent = 0.0
        self._since = 0.0
        self._timer: threading.Timer | None = None
        self._said = False

    def begin(self, function: Any) -> None:
        """A function begins to be compiled."""
        if self._outermost is not None or self._said or not _is_ours(function):
            return
        self._outermost, self._since = function, time.monotonic()
        self._timer = threading.Timer(max(0.0, PATIENCE - self._spent), self._say)
        self._timer.daemon = True
        self._timer.start()

    def end(self, function: Any) -> None:
        """A function has been compiled."""
        if function is not self._outermost:
            return
        self._outermost = None
        self._spent += time.monotonic() - self._since
        if self._timer is not None:
            self._timer.cancel()

    def _say(self) -> None:
        if not self._said and self._outermost is not None:
            self._said = True
            print(WORDS.format(left=USUAL), file=sys.stderr, flush=True)


def _is_ours(function: Any) -> bool:
    return str(function.__module__).startswith("cpclean.")
