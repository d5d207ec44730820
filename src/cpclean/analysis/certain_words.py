"""How far a session is, in words: the same in the terminal, in a report and on the page.

A prediction is certain, sure or open; it is settled when it is certain or, in a session with a
level, that sure. A row to predict that has holes consists of completions, which answers about the
training table cannot tell apart: each of them is settled by itself. So there are two numbers where
there are such rows: the share of completions that are settled, by weight, and for how many
predictions all of them are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cpclean.analysis.words import count, percent, words_first
from cpclean.cleaning.view import SessionView
from cpclean.queries.sureness import CERTAIN, LEVEL, SURE


class StandingNumbers(Protocol):
    """A value, flat for JSON, among whose fields are the numbers of a `Standing`."""

    @property
    def certain(self) -> int: ...
    @property
    def sure(self) -> int: ...
    @property
    def open(self) -> int: ...
    @property
    def certain_share(self) -> float: ...
    @property
    def sure_share(self) -> float: ...
    @property
    def sure_level(self) -> float: ...
    @property
    def until_sure(self) -> bool: ...
    @property
    def points_with_holes(self) -> int: ...


@dataclass(frozen=True)
class Standing:
    """How many predictions are certain, sure and open.

    Attributes
    ----------
    certain, sure, open : int
        Predictions of which everything is certain; others of which everything is sure; the rest.
    certain_share, sure_share : float
        The share of completions that are certain, and that are certain or sure; of complete points,
        each has one.
    level : float
        At which predictions are sure.
    until_sure : bool
        Whether sure predictions are settled, too.
    with_holes : int
        How many points have several completions.

    Examples
    --------
    >>> print(Standing(12, 20, 8, 0.3, 0.8))
    12 of 40 predictions are certain (30.0%), 20 more are 95% sure, 8 are open
    >>> print(Standing(12, 20, 8, 0.3, 0.8, level=0.99, until_sure=True))
    32 of 40 predictions are settled (80.0%): 12 certain, 20 more 99% sure; 8 are open
    >>> print(Standing(12, 9, 19, 0.642, 0.81, with_holes=9))
    64.2% of the completions are certain, all of them for 12 of 40 predictions; 81.0% are certain \
or 95% sure
    """

    certain: int
    sure: int
    open: int
    certain_share: float
    sure_share: float
    level: float = LEVEL
    until_sure: bool = False
    with_holes: int = 0

    @classmethod
    def of(cls, view: SessionView) -> Standing:
        """That of a session now."""
        verdicts = view.verdicts
        certain, sure = (int((verdicts == one).sum()) for one in (CERTAIN, SURE))
        return cls(
            certain,
            sure,
            len(verdicts) - certain - sure,
            view.certain_share,
            view.sure_share,
            view.sure or LEVEL,
            view.sure is not None,
            len(view.points.mixtures),
        )

    @classmethod
    def of_verdicts(cls, verdicts: npt.NDArray[np.str_], level: float = LEVEL) -> Standing:
        """That of predictions as a whole, whose completions do not count by themselves."""
        certain, sure = (int((verdicts == one).sum()) for one in (CERTAIN, SURE))
        n = len(verdicts)
        return cls(certain, sure, n - certain - sure, certain / n, (certain + sure) / n, level)

    @classmethod
    def in_numbers(cls, found: StandingNumbers) -> Standing:
        """That of a value that was made with `numbers`."""
        return cls(
            found.certain,
            found.sure,
            found.open,
            found.certain_share,
            found.sure_share,
            found.sure_level,
            found.until_sure,
            found.points_with_holes,
        )

    @property
    def numbers(self) -> dict[str, Any]:
        """The fields of a flat value, by name: these and `in_numbers` are inverse."""
        return {
            "points": self.points,
            "points_with_holes": self.with_holes,
            "certain": self.certain,
            "certain_share": self.certain_share,
            "sure": self.sure,
            "open": self.open,
            "sure_level": self.level,
            "sure_share": self.sure_share,
            "settled": self.settled,
            "settled_share": self.settled_share,
            "until_sure": self.until_sure,
        }

    @property
    def points(self) -> int:
        return self.certain + self.sure + self.open

    @property
    def settled(self) -> int:
        """Predictions of which everything is settled."""
        return self.certain + (self.sure if self.until_sure else 0)

    @property
    def settled_share(self) -> float:
        return self.sure_share if self.until_sure else self.certain_share

    @property
    def promise(self) -> str:
        """What is true of settled predictions."""
        return promise(self.level if self.until_sure else None)

    def __str__(self) -> str:
        return self._of_completions() if self.with_holes else self._of_points()

    def _of_points(self) -> str:
        settled = "settled" if self.until_sure and self.certain < self.points else "certain"
        share = percent(self.settled / self.points)
        said = f"{self.settled:,} of {self.points:,} predictions are {settled} ({share})"
        sure, open_ = level_words(self.level), f"{self.open:,} {_are(self.open)} open"
        if self.certain == self.points:
            return said
        if self.until_sure:
            return f"{said}: {self.certain:,} certain, {self.sure:,} more {sure}; {open_}"
        return f"{said}, {self.sure:,} more {_are(self.sure)} {sure}, {open_}"

    def _of_completions(self) -> str:
        of = f"{f'{self.settled:,}' if self.settled else 'none'} of {_predictions(self.points)}"
        settled = "settled" if self.until_sure and self.certain_share < 1 else "certain"
        said = (
            f"{percent(self.settled_share)} of the completions are {settled}, all of them for {of}"
        )
        if self.certain_share == 1:
            return said
        if self.until_sure:
            return f"{said}; {percent(self.certain_share)} are certain"
        return f"{said}; {percent(self.sure_share)} are {promise(self.level)}"


def level_words(level: float) -> str:
    """A level in words.

    >>> level_words(0.95), level_words(0.975)
    ('95% sure', '97.5% sure')
    """
    return f"{100 * level:.4g}% sure"


def promise(level: float | None) -> str:
    """What is true of predictions that are settled at a level, or without one."""
    return "certain" if level is None else f"certain or {level_words(level)}"


def certain_in(view: SessionView) -> str:
    """How many predictions of a session are certain, sure and open."""
    return str(Standing.of(view))


def can_stop(view: SessionView) -> tuple[str, str] | None:
    """That nobody has to answer anything more, and which promise holds; None if it does not."""
    found = Standing.of(view)
    if found.settled < found.points:
        return None
    what = "completions of " if found.with_holes else ""
    if found.certain == found.points:
        return (
            f"All {what}{_predictions(found.points)} are certain: you can stop now.",
            "Nothing that is still missing could change any of them.",
        )
    return (
        f"All {what}{_predictions(found.points)} are {found.promise}: you can stop now.",
        f"{found.certain:,} {_are(found.certain)} certain: nothing that is still missing could "
        f"change them. {found.sure:,} more {_are(found.sure)} {level_words(found.level)}: one "
        f"label holds at least {100 * found.level:.4g}% of the prior mass.",
    )


def ways_words(found: Standing) -> str:
    """The same as the text of a standing, for people who have not met a completion yet.

    >>> print(ways_words(Standing(12, 9, 19, 0.642, 0.81, with_holes=9)))
    9 of the 40 rows to predict have holes themselves, which answers cannot fill. From here on, \
every way of filling them counts by its weight: so counted, about two in three (64.2%) of the \
predictions are certain, and about four in five (81.0%) are certain or 95% sure.
    """
    one = found.with_holes == 1
    have, them = ("has holes itself", "it") if one else ("have holes themselves", "them")
    which = f"{found.with_holes:,} of the {count(found.points, 'row')}"
    if found.with_holes == found.points > 1:
        which = f"All {found.points:,} rows"
    said = (
        f"{which} to predict {have}, which "
        f"answers cannot fill. From here on, every way of filling {them} counts by its "
        f"weight: so counted, {words_first(found.certain_share)} of the predictions are certain"
    )
    if found.certain_share == 1:
        return f"{said}."
    return f"{said}, and {words_first(found.sure_share)} are {promise(found.level)}."


def completions_words(with_holes: int) -> str:
    """What a completion is; "" where no point has holes.

    >>> completions_words(1)
    '1 row to predict has holes, which answers cannot fill. A completion is one way of filling \
them: each becomes certain by itself, and counts by its weight.'
    """
    if not with_holes:
        return ""
    rows = count(with_holes, "row to predict has", "rows to predict have")
    return (
        f"{rows} holes, which answers cannot fill. A completion is one way of filling them: each "
        "becomes certain by itself, and counts by its weight."
    )


def _predictions(number: int) -> str:
    return count(number, "prediction")


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
