"""How far a session is, in words: the same in the terminal, in a report and on the page.

A row to predict that has holes consists of completions, which answers about the training table
cannot tell apart: each of them becomes certain by itself. So there are two numbers where there are
such rows: the share of completions that are certain, by weight, and for how many predictions all
of them are.
"""

from __future__ import annotations

from cpclean.analysis.words import count, percent
from cpclean.cleaning.view import SessionView


def certain_words(certain: int, points: int, share: float, with_holes: int) -> str:
    """How much is certain.

    Parameters
    ----------
    certain, points : int
        Predictions of which everything is certain, and all of them.
    share : float
        The share of completions that are certain; of complete points, each has one.
    with_holes : int
        How many points have several completions.

    Examples
    --------
    >>> certain_words(12, 40, 0.3, 0)
    '12 of 40 predictions are certain (30.0%)'
    >>> certain_words(12, 40, 0.642, 9)
    '64.2% of the completions are certain, all of them for 12 of 40 predictions'
    """
    if with_holes:
        of = f"{f'{certain:,}' if certain else 'none'} of {count(points, 'prediction')}"
        return f"{percent(share)} of the completions are certain, all of them for {of}"
    return f"{certain:,} of {points:,} predictions are certain ({percent(certain / points)})"


def certain_in(view: SessionView) -> str:
    """The same about a session as it is now."""
    certain = view.certain
    mixed = len(view.points.mixtures)
    return certain_words(int(certain.sum()), len(certain), view.certain_share, mixed)


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
