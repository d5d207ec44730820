"""What is known about a row, from one answer or several."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cpclean.data.between import Between


@dataclass(frozen=True)
class Known:
    """What is known about a row: raw values by column, and values of columns of the space.

    candidate is the number of the true candidate, if the answer was that number. rough and ranges
    say the same as raw and features where an answer was only rough; no column is in both.
    """

    raw: dict[Any, Any] = field(default_factory=dict)
    features: dict[int, float] = field(default_factory=dict)
    candidate: int | None = field(default=None, compare=False)
    rough: dict[Any, Between] = field(default_factory=dict)
    ranges: dict[int, Between] = field(default_factory=dict)

    @property
    def narrowing(self) -> dict[int, float | Between]:
        """All that is known, by column of the space."""
        return {**self.ranges, **self.features}

    def and_(self, later: Known) -> Known:
        """Both together; the later answer wins, and a candidate replaces everything before."""
        if later.candidate is not None:
            return later
        exact = {*later.raw, *later.features}
        return Known(
            {**_without(self.raw, later.rough), **later.raw},
            {**_without(self.features, later.ranges), **later.features},
            rough={**_without(self.rough, exact), **later.rough},
            ranges={**_without(self.ranges, exact), **later.ranges},
        )

    def against(self, other: Known) -> bool:
        """Whether the two contradict each other in any column."""
        mine: dict[Any, Any] = {**self.rough, **self.raw, **self.narrowing}
        theirs = {**other.rough, **other.raw, **other.narrowing}
        return any(mine[key] != theirs[key] for key in mine.keys() & theirs.keys())


# Of a row about which nothing has been said.
NOTHING = Known()


def _without(known: dict[Any, Any], columns: Any) -> dict[Any, Any]:
    return {column: one for column, one in known.items() if column not in columns}
