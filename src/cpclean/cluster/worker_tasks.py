"""What runs on a worker: one piece of work on a value that the worker has, or comes by.

A worker keeps the values that it used last, for all who send it work. They are a convenience: what
is not there any more is made again from the root, which a task brings with it, and the steps.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

from cpclean.cluster.held import HeldStep

# How many values a worker keeps, of all sessions together. Values of one session share their arrays
# but for what a step has changed.
MOST_KEPT = 24

_kept: OrderedDict[str, Any] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True)
class NotKept:
    """The worker has none of the values that the steps it was sent begin with."""


def packed(value: Any) -> bytes:
    """A value as it is sent."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def unpacked(content: bytes) -> Any:
    """A value as it was sent, by those who work on the same cluster."""
    return pickle.loads(content)


@dataclass(frozen=True)
class Order:
    """One piece of work.

    Attributes
    ----------
    root_key : str
    steps : tuple of HeldStep
        All since the root or, if not `from_root`, the last ones.
    from_root : bool
    work : function of the value and the arrays
    arrays : tuple
    """

    root_key: str
    steps: tuple[HeldStep[Any], ...]
    from_root: bool
    work: Callable[..., Any]
    arrays: tuple[Any, ...]


def perform(root: bytes, order: bytes) -> bytes:
    """Do one piece of work; `order` is a packed Order, and the result is packed, too.

    The result depends on the value and the arrays alone, not on what the worker has done before.
    """
    wanted: Order = unpacked(order)
    # One at a time, or two threads would make the same value; what is kept is never changed.
    with _lock:
        value = _found(root, wanted)
    return packed(value if isinstance(value, NotKept) else wanted.work(value, *wanted.arrays))


def forget() -> None:
    """Keep nothing any more."""
    with _lock:
        _kept.clear()


def _found(root: bytes, wanted: Order) -> Any:
    """The value after all steps, from the last one that is kept."""
    steps, at = wanted.steps, len(wanted.steps)
    while at and steps[at - 1].key not in _kept:
        at -= 1
    if at:
        value = _used(steps[at - 1].key)
    elif not wanted.from_root:
        return NotKept()
    elif wanted.root_key in _kept:
        value = _used(wanted.root_key)
    else:
        value = unpacked(root)
        _keep(wanted.root_key, value)
    for step in steps[at:]:
        value = step.change(value, step.argument)
        _keep(step.key, value)
    return value


def _used(key: str) -> Any:
    _kept.move_to_end(key)
    return _kept[key]


def _keep(key: str, value: Any) -> None:
    _kept[key] = value
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
