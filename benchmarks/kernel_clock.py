"""How much of some work is done by compiled kernels: timers around their calls."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

from numba.core.dispatcher import Dispatcher

KERNELS = "cpclean.queries"


@dataclass
class Clock:
    """CPU seconds in kernels so far, handing over arguments and results included."""

    seconds: float = 0.0

    def around(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(kernel)
        def timed(*arguments: Any) -> Any:
            start = time.thread_time()
            try:
                return kernel(*arguments)
            finally:
                self.seconds += time.thread_time() - start

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
