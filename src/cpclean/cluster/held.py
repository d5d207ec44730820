"""Values that are known by name to everyone who works on them, and the steps they came about by.

A value that changes little by little, such as a table of which more and more is known, is sent to
workers once, as its *root*. What follows are the steps since then: each is a function of the value
before it and of something small. Whoever has an earlier value repeats the steps that are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar
from uuid import uuid4

import numpy.typing as npt

Value = TypeVar("Value")
# What a piece of work is about, beside a value.
Arrays = tuple[npt.NDArray[Any], ...]

# After so many steps the value itself becomes a root: a worker repeats no more than these.
MOST_STEPS = 128


@dataclass(frozen=True, eq=False)
class Root(Generic[Value]):
    """A value that is sent as it is."""

    key: str
    value: Value


@dataclass(frozen=True, eq=False)
class HeldStep(Generic[Value]):
    """A change; `key` is the name of the value that it leads to, given when it is first asked."""

    change: Callable[[Value, Any], Value]
    argument: Any

    @cached_property
    def key(self) -> str:
        return uuid4().hex

    def __getstate__(self) -> dict[str, Any]:
        return {"key": self.key, "change": self.change, "argument": self.argument}


@dataclass(frozen=True, eq=False)
class Held(Generic[Value]):
    """A value, and how others can come by it.

    Attributes
    ----------
    value
    root : Root
    steps : tuple of HeldStep
        What has been done to the value of the root.

    Examples
    --------
    >>> held = Held.of(20).then(int.__add__, 1).then(int.__mul__, 2)
    >>> held.value, held.root.value, [step.argument for step in held.steps]
    (42, 20, [1, 2])
    """

    value: Value
    root: Root[Value]
    steps: tuple[HeldStep[Value], ...] = ()

    @classmethod
    def of(cls, value: Value) -> Held[Value]:
        """A value that is sent as it is."""
        return cls(value, Root(uuid4().hex, value))

    @property
    def key(self) -> str:
        """The name of the value: the same name means the same value."""
        return self.steps[-1].key if self.steps else self.root.key

    def then(self, change: Callable[[Value, Any], Value], argument: Any) -> Held[Value]:
        """The value after a change; `change` and `argument` can be pickled."""
        after = change(self.value, argument)
        if len(self.steps) >= MOST_STEPS:
            return Held.of(after)
        return Held(after, self.root, (*self.steps, HeldStep(change, argument)))
