"""What is known about a row, from one answer or several."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Known:
    """What is known about a row: raw values by column, and values of columns of the space.

    candidate is the number of the true candidate, if the answer was that number.
    """

    raw: dict[Any, Any] = field(default_factory=dict)
    features: dict[int, float] = field(default_factory=dict)
    candidate: int | None = field(default=None, compare=False)

    def and_(self, later: Known) -> Known:
        """Both together; the later answer wins, and a candidate replaces everything before."""
        if later.candidate is not None:
            return later
        return Known({**self.raw, **later.raw}, {**self.features, **later.features})

    def against(self, other: Known) -> bool:
        """Whether the two contradict each other in any column."""
        pairs = ((self.raw, other.raw), (self.features, other.features))
        return any(one[key] != two[key] for one, two in pairs for key in one.keys() & two.keys())
