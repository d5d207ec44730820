"""Between: an answer that is only rough. The true value lies in a range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_KEY = "between"


@dataclass(frozen=True)
class Between:
    """A value that is known only roughly: it lies between two ends, which belong to the range.

    Parameters
    ----------
    low, high : number, date or duration, or None
        None for no limit on that side.

    Examples
    --------
    >>> Between(20, 40), Between(high=18)
    (Between(low=20, high=40), Between(low=None, high=18))
    >>> Between(20, 40).plain(), Between.of({"between": [20, None]})
    ({'between': [20, 40]}, Between(low=20, high=None))
    """

    low: Any = None
    high: Any = None

    @classmethod
    def of(cls, value: Any) -> Between | None:
        """A range, also as it stands in a log; None if a value is none."""
        if isinstance(value, Between):
            return value
        if not isinstance(value, Mapping) or set(value) != {_KEY}:
            return None
        ends = value[_KEY]
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            return None
        return cls(*ends)

    def plain(self) -> dict[str, list[Any]]:
        """The same in values that can be saved as JSON, if its ends can."""
        return {_KEY: [self.low, self.high]}

    def words(self, shown: Callable[[Any], str]) -> str:
        """In words, with ends as a function shows them.

        >>> Between(20, 40).words(str), Between(high=20).words(str), Between(40).words(str)
        ('20 to 40', 'at most 20', 'at least 40')
        """
        if self.low is None or self.high is None:
            return (
                f"at most {shown(self.high)}" if self.low is None else f"at least {shown(self.low)}"
            )
        return f"{shown(self.low)} to {shown(self.high)}"

    def holds(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which of some values lie in the range."""
        found = np.ones(len(values), dtype=bool)
        if self.low is not None:
            found &= values >= self.low
        if self.high is not None:
            found &= values <= self.high
        return found
