"""Gold questions: rows whose truth is known, mixed in to see how well people answer.

Which question of a person is gold, and which row it is about, follows from their name and from how
many rows they have answered or skipped. So a reload, a restart and a second server ask the same,
and the list of somebody's next questions has them in their places. Nobody can tell them from other
questions.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cpclean.data.between import Between
from cpclean.storage.events import Event
from cpclean.storage.ledger import Ledger

WHO = "(gold)"  # under whose name truths stand in the log
RATE = 0.1  # the share of questions that are gold, unless the owner says otherwise
FEWEST = 5  # answers to gold questions from which a share can be told
_WIDTH = 1.96  # of an interval at 95 %
RIGHT, ROUGH, WRONG, UNKNOWN = "right", "roughly right", "wrong", "unknown"


def is_gold(who: str, number: int, rate: float) -> bool:
    """Whether the question with this number (from 0) of a person is a gold one.

    Of every 1 / rate questions it is one, at a place that looks random.

    >>> [number for number in range(40) if is_gold("Ann", number, 0.1)]
    [0, 16, 22, 31]
    """
    if rate <= 0:
        return False
    every = max(1, round(1 / rate))
    block, place = divmod(number, every)
    return place == _draw(who, "block", block) % every


def gold_order(who: str, rows: Iterable[int]) -> list[int]:
    """Gold rows in the order in which a person is asked about them."""
    return sorted(rows, key=lambda row: _draw(who, "row", row))


def _draw(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6])


@dataclass(frozen=True)
class QualityView:
    """How well a person answers gold questions.

    Attributes
    ----------
    right, roughly_right, wrong, unknown : int
        Gold questions that were answered exactly as it is, with a range that holds the true value,
        otherwise, and with "I don't know".
    share : float or None
        Of the answers, those that are right or roughly right; None if there are too few.
    low, high : float or None
        Wilson's interval for that share, at 95 %.
    """

    name: str
    right: int = 0
    roughly_right: int = 0
    wrong: int = 0
    unknown: int = 0

    @property
    def answers(self) -> int:
        """Gold questions that were answered."""
        return self.right + self.roughly_right + self.wrong

    @property
    def share(self) -> float | None:
        if self.answers < FEWEST:
            return None
        return (self.right + self.roughly_right) / self.answers

    @property
    def low(self) -> float | None:
        return None if self.share is None else _interval(self.share, self.answers)[0]

    @property
    def high(self) -> float | None:
        return None if self.share is None else _interval(self.share, self.answers)[1]


def _interval(share: float, n: int) -> tuple[float, float]:
    square = _WIDTH**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    width = _WIDTH * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    # Its ends reach 0 and 1 exactly where none or all are right; rounding must not hide that.
    low = 0.0 if share == 0 else middle - width
    return low, 1.0 if share == 1 else middle + width


def verdict(said: Mapping[str, Any], truth: Mapping[str, Any]) -> str:
    """What an answer to a gold question is worth; `said` has None for what was not known.

    >>> verdict({"age": 41.0}, {"age": 41, "city": "Rome"})
    'right'
    >>> verdict({"age": Between(40, 50), "city": "Rome"}, {"age": 41, "city": "Rome"})
    'roughly right'
    >>> verdict({"age": Between(50, None), "city": "Rome"}, {"age": 41, "city": "Rome"})
    'wrong'
    """
    given = {name: one for name, one in said.items() if one is not None and name in truth}
    if not given:
        return UNKNOWN
    if not all(_agrees(one, truth[name]) for name, one in given.items()):
        return WRONG
    return ROUGH if any(isinstance(one, Between) for one in given.values()) else RIGHT


def _agrees(said: Any, true: Any) -> bool:
    if isinstance(said, Between):
        return (said.low is None or said.low <= true) and (said.high is None or true <= said.high)
    numbers = all(isinstance(one, int | float) for one in (said, true))
    return math.isclose(said, true, rel_tol=1e-9) if numbers else str(said) == str(true)


def verdicts(
    ledger: Ledger, events: Iterable[Event], said: Mapping[int, Mapping[str, Any]]
) -> dict[int, str]:
    """What each answer and skip about a gold question is worth, by the number of its event.

    Parameters
    ----------
    said : dict from event number to dict from column to value
        What each event says, truths included.
    """
    found = {}
    for event in events:
        truth = ledger.truths.get(event.row)
        asked = event.kind in ("answer", "skip") and event.number not in ledger.undone
        if truth is not None and asked and event.handed_to is None:
            found[event.number] = verdict(said[event.number], said[truth.number])
    return found


def qualities(
    ledger: Ledger, worth: Mapping[int, str], people: Collection[str]
) -> list[QualityView]:
    """How well each person answers gold questions: by what they said last about each row."""
    counts: dict[str, dict[str, int]] = {name: {} for name in people}
    for row in ledger.truths:
        state = ledger.rows.get(row)
        for event in state.words if state is not None else ():
            if event.number in worth:
                own, kind = counts.setdefault(event.who, {}), worth[event.number]
                own[kind] = own.get(kind, 0) + 1
    kinds = (RIGHT, ROUGH, WRONG, UNKNOWN)
    return [
        QualityView(name, *(own.get(kind, 0) for kind in kinds))
        for name, own in sorted(counts.items())
    ]
