"""Do the holes matter? The answer in one sentence or two, before any number is explained."""

from __future__ import annotations

from cpclean.analysis.certain_words import level_words
from cpclean.analysis.predictions import Predictions
from cpclean.analysis.words import percent, share_words
from cpclean.cleaning.view import SessionView
from cpclean.queries.sureness import OPEN

# Where at least this share of the predictions is the same in every world, holes hardly matter.
HARDLY = 0.9
# Where at most this share is, they matter for most predictions.
MOST = 0.5
LITTLE = "matter little for"


def headline(found: Predictions, own: int = 0) -> str:
    """Whether holes matter for some predictions, and for how many; the share in words first.

    A prediction is the same only if neither the holes of the training rows nor those of the row
    itself can change it. `cpclean check` lists them one by one, with more
    completions of a row with many holes than a session has, so that it may find a few more.

    Parameters
    ----------
    found : Predictions
        Of a table with holes, in its training rows or in the rows to predict.
    own : int, optional
        Of those that are open, how many are so only because of holes in the row to predict.

    Examples
    --------
    >>> import numpy as np
    >>> shares = np.array([[1.0, 0.0], [1.0, 0.0], [0.98, 0.02], [0.5, 0.5]])
    >>> print(headline(Predictions(shares, shares[:, 1] == 0, sure=shares[:, 0] > 0.95)))
    The holes matter for many of these predictions: about half (2 of 4, 50.0%) are the same, \
whatever is in them; 1 more is 95% sure, 1 is open.
    """
    n, same = found.n_points, found.n_certain
    if same == n:
        these = "this prediction: it is" if n == 1 else f"these {n:,} predictions: each is"
        return f"The holes do not matter for {these} the same, whatever is in them."
    if n == 1:
        end = level_words(found.level) if found.n_sure else f"open{_because(1, own)}"
        return f"The holes matter for this prediction: it is {end}."
    share = same / n
    how = share_words(share)
    are = "is" if how.startswith(("one", "none")) or same == 1 else "are"
    said = (
        f"The holes {_degree(found)} these predictions: {how} ({same:,} of {n:,}, "
        f"{percent(share)}) {are} the same, whatever is in them"
    )
    if same == 0:
        said = f"The holes matter for all of these predictions: none of {n:,} is the same "
        said += "whatever is in them"
    rest, settled = [], same + found.n_sure
    if same and _degree(found) == LITTLE:
        # Few of them may be certain: that would not sound like little.
        said = (
            f"The holes {LITTLE} these predictions: {share_words(settled / n)} ({settled:,} of "
            f"{n:,}, {percent(settled / n)}) are the same, whatever is in them, or "
            f"{level_words(found.level)}: {same:,} {_are(same)} the same, {found.n_sure:,} "
            f"{_are(found.n_sure)} {level_words(found.level)}"
        )
        if found.n_open:
            because = _because(found.n_open, own)
            return f"{said}, {found.n_open:,} {_are(found.n_open)} open{because}."
        return f"{said}."
    if found.n_sure:
        more = " more" if same else ""
        rest.append(f"{found.n_sure:,}{more} {_are(found.n_sure)} {level_words(found.level)}")
    if found.n_open:
        rest.append(f"{found.n_open:,} {_are(found.n_open)} open{_because(found.n_open, own)}")
    return f"{said}; {', '.join(rest)}."


def _degree(found: Predictions) -> str:
    share = found.n_certain / found.n_points
    if share >= HARDLY:
        return "hardly matter for"
    if (found.n_certain + found.n_sure) / found.n_points >= HARDLY:
        return LITTLE
    return "matter for many of" if share >= MOST else "matter for most of"


def open_by_own_holes(view: SessionView, found: Predictions) -> int:
    """How many predictions of a session are open only because of holes in the row to predict.

    Each way of filling these is certain or sure, but not of the same label.
    """
    return int(((found.verdicts == OPEN) & (view.verdicts != OPEN)).sum())


def _because(n_open: int, own: int) -> str:
    if not own:
        return ""
    only, their = f"{own:,} of them only", "its" if own == 1 else "their"
    if own == n_open:
        only = "only" if own == 1 else "both only" if own == 2 else "all of them only"
    return f", {only} because of {their} own holes, which no answer about a training row fills"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
