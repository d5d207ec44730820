"""Numbers for values of any kind, equal ones alike: what is worked out once per distinct value.

Python hashes the items; no statement runs per item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from operator import is_
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cpclean.data.rows import Bools, Ints


class Coded(NamedTuple):
    """The number of each item among the distinct ones, which are in order of appearance."""

    codes: Ints
    distinct: list[Any]

    def each(self, judge: Callable[[Any], bool]) -> Bools:
        """What holds for each item, judged once per distinct one."""
        return np.array(list(map(judge, self.distinct)), dtype=bool)[self.codes]

    def without(self, gone: Bools) -> Coded:
        """The same without some of the distinct items; their codes become -1."""
        number = np.where(gone, -1, np.cumsum(~gone) - 1)
        kept = [one for one, out in zip(self.distinct, gone.tolist(), strict=True) if not out]
        return Coded(number[self.codes] if gone.any() else self.codes, kept)


def coded(items: Sequence[Any]) -> Coded:
    """Items by their equality: 1, 1.0 and True are the same; a TypeError if one has no hash.

    >>> coded(["b", "a", "b"])
    Coded(codes=array([0, 1, 0]), distinct=['b', 'a'])
    """
    distinct = dict.fromkeys(items)
    return Coded(_looked_up(items, distinct), list(distinct))


def exactly_coded(items: Sequence[Any]) -> Coded:
    """Items by type and equality; one without a hash differs from all others."""
    try:
        if len(set(map(type, items)) - {type(None)}) <= 1:
            return coded(items)
        keys = list(zip(map(type, items), items, strict=True))
        distinct = dict.fromkeys(keys)
    except TypeError:
        return coded_by_identity(items)
    return Coded(_looked_up(keys, distinct), [item for _, item in distinct])


def coded_by_identity(items: Sequence[Any]) -> Coded:
    """Items that are the very same object alike."""
    distinct = dict(zip(map(id, items), items, strict=True))
    return Coded(_looked_up(list(map(id, items)), distinct), list(distinct.values()))


def _looked_up(keys: Sequence[Any], distinct: dict[Any, Any]) -> Ints:
    number = dict(zip(distinct, range(len(distinct)), strict=True))
    return np.fromiter(map(number.__getitem__, keys), dtype=np.int64, count=len(keys))


def objects(items: Sequence[Any]) -> npt.NDArray[Any]:
    """Items as an array of objects; NumPy would take tuples apart."""
    return np.fromiter(items, dtype=object, count=len(items))


def are_none(items: npt.NDArray[Any]) -> Bools:
    """Which items of an array of objects are None."""
    return np.fromiter(map(is_, items, repeat(None)), dtype=bool, count=len(items))
