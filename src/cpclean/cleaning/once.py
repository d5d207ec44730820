"""What is worked out when it is first asked for, and kept: without the lock of `functools`.

Until Python 3.12, `functools.cached_property` takes a lock that all instances share. A step of a
session asks for several such values of new objects, and the locks take as long as what they guard.
Where two threads ask at once, both work it out, and find the same.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self, TypeVar, overload

Value = TypeVar("Value")


class once(cached_property[Value]):  # in lower case like what it stands for
    """Like `cached_property`."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | Value:
        if instance is None:
            return self
        found: Value = self.func(instance)
        assert self.attrname is not None, "a name in a class"
        object.__setattr__(instance, self.attrname, found)  # some take no other attributes
        return found
