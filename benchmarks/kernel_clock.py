"""How much of some work is done by compiled kernels: timers around their calls.

The timers take time themselves. What they add to the time in kernels is measured and taken off; how
long the work takes in all is for another run to say, without timers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any

from numba.core.dispatcher import Dispatcher

KERNELS = "cpclean.queries"


@dataclass
class Clock:
    """CPU seconds in kernels so far, handing over arguments and results included."""

    timed: float = 0.0
    calls: int = 0

    @property
    def seconds(self) -> float:
        """Without what the timers measured of themselves."""
        return self.timed - self.calls * _of_a_timer()

    def around(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(kernel)
        def timed(*arguments: Any) -> Any:
            start = time.thread_time()
            try:
                return kernel(*arguments)
            finally:
                self.timed += time.thread_time() - start
                self.calls += 1

        return timed


@contextmanager
def kernel_clock() -> Iterator[Clock]:
    """Time every call of a kernel from Python.

    All of them must have been compiled before, for the same kinds of arguments: a kernel that is
    compiled meanwhile would find timers in the place of those that it calls.
    """
    clock = Clock()
    modules = [module for name, module in sys.modules.items() if name.startswith(KERNELS)]
    found = [
        (module, name, one)
        for module in modules
        for name, one in vars(module).items()
        if isinstance(one, Dispatcher)
    ]
    for module, name, one in found:
        setattr(module, name, clock.around(one))
    try:
        yield clock
    finally:
        for module, name, one in found:
            setattr(module, name, one)


@cache
def _of_a_timer(n_calls: int = 20_000) -> float:
    """What a timer says of a call that does nothing, less what such a call takes."""

    def nothing() -> None:
        pass

    found = []
    for _ in range(5):
        clock = Clock()
        timed = clock.around(nothing)
        for _ in range(n_calls):
            timed()
        start = time.thread_time()
        for _ in range(n_calls):
            nothing()
        found.append((clock.timed - (time.thread_time() - start)) / n_calls)
    return min(found)
