"""Which columns matter: what it would bring to clean one of them and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpclean.analysis.column_fills import ColumnFills
from cpclean.analysis.words import about_percent, percent
from cpclean.cleaning.view import SessionView
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats, is_whole
from cpclean.data.table import IncompleteTable
from cpclean.errors import CPCleanError
from cpclean.queries.certain import is_certain
from cpclean.queries.gather import near_rows
from cpclean.queries.model import Model
from cpclean.queries.shares import world_shares
from cpclean.queries.sureness import checked_level, sure_by

MOST_DRAWS = 300  # of all columns of a session together
MOST_ASKED = 300  # open predictions per draw; of more, each draw has a sample of its own
MOST_SHARED = 60  # the same where shares are worked out, too, from draws of rows
MOST_SECONDS = 30.0  # that a person waits for the columns


@dataclass(frozen=True)
class ColumnEffect:
    """What it would bring to clean one column and nothing else.

    Attributes
    ----------
    name, kind : str
    holes : int
        Cells of the column that are missing or doubted, before any answer.
    certain_if_clean : float
        The share of validation points that are certain once the column's holes are known: the
        mean over values drawn from the prior.
    low, high : float
        The lowest and the highest share among the draws.
    error : float
        The standard error of `certain_if_clean`, from how much the draws differ; 0 for one draw.
    sample : int
        How many predictions each draw was asked about, if these are a sample; 0 if all were.
    settled_if_clean : float
        The share of the predictions that are open now which would be settled once the column's
        holes are known: certain or, at a level, that sure. The mean over the draws; 1 if none are
        open.
    """

    name: str
    kind: str
    holes: int
    certain_if_clean: float
    low: float
    high: float
    error: float = 0.0
    sample: int = 0
    settled_if_clean: float = 1.0

    def of_open(self, n_open: int) -> int:
        """How many of so many open predictions would be settled, on average."""
        return round(self.settled_if_clean * n_open)


def column_effects(
    table: IncompleteTable,
    points: Points | npt.ArrayLike,
    model: Model | None = None,
    n_samples: int = 10,
    random_state: int = 0,
    *,
    data: IncompleteDataset | None = None,
    sure: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[ColumnEffect]:
    """The share of validation points that become certain if one column alone were clean.

    What its holes hold is not known, so it is drawn from the prior, each hole on its own, and
    certainty is worked out exactly for every draw. If more than 300 predictions are open, counting
    each completion of a point, every draw is asked about 300 of them, chosen at random by weight:
    on average, the share is the same. `ColumnEffect.error` covers the chance in both. With a level,
    and if rows are represented by draws, these are 60.

    Parameters
    ----------
    table : IncompleteTable
    points : Points, or array of shape (n_points, n_features)
        Validation points, as `table.points` or `table.encode` gives them.
    model : Model, optional
        The three nearest rows by Euclidean distance vote if nothing else is said.
    n_samples : int
        Draws per column.
    random_state : int
        The same draws for the same data and points.
    data : IncompleteDataset, optional
        What is known now, such as `session.data`; by default `table.dataset`.
    sure : float, optional
        A level between 0.5 and 1 at which predictions are settled that are not certain. It takes
        longer: shares are worked out for every draw.
    progress : function of a column's name, optional
        Called before each column is looked at.

    Returns
    -------
    list of ColumnEffect
        One per column, in the table's order.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import IncompleteTable
    >>> frame = pd.DataFrame({"size": [1, 2, None, 8, 9], "age": [3, 1, 2, 1, 2]})
    >>> table = IncompleteTable(frame, label=["s", "s", "s", "l", "l"])
    >>> points = table.points(pd.DataFrame({"size": [1, 8], "age": [3, 2]}))
    >>> effect = column_effects(table, points, Model(n_neighbors=1))[0]
    >>> effect.name, effect.holes, effect.certain_if_clean
    ('size', 1, 1.0)
    """
    if not is_whole(n_samples) or n_samples < 1:
        raise CPCleanError(f"n_samples must be an int of at least 1; got {n_samples!r}.")
    start = table.dataset if data is None else data
    given = points if isinstance(points, Points) else Points.of(points)
    level = None if sure is None else checked_level(sure, "sure")
    asked = (table, start, given, model or Model(), n_samples, random_state)
    return list(_each(*asked, level, progress))


def effects_in_session(view: SessionView, random_state: int = 0) -> list[ColumnEffect]:
    """The effects for a session's validation points; none if a person would wait too long."""
    table = view.table
    if table is None or view.model.precomputed or view.settled.all():
        return []
    end = time.perf_counter() + MOST_SECONDS
    found: list[ColumnEffect] = []
    draws = draws_per_column(table)
    for effect in _each(table, view.data, view.points, view.model, draws, random_state, view.sure):
        found.append(effect)
        if time.perf_counter() > end and len(found) < len(table.names):
            return []
    return found


def effects_in_words(effects: Sequence[ColumnEffect], now: float | None = None) -> str:
    """Which column matters most; `now` is the share that is certain already."""
    with_holes = [one for one in effects if one.holes]
    if not with_holes:
        return "No column has holes."
    best = max(with_holes, key=lambda one: one.certain_if_clean)
    said = percent if best.low == best.high and not best.sample else about_percent
    then = f"If {best.name} had no holes, {said(best.certain_if_clean)} of the predictions"
    return f"{then} would be certain{'' if now is None else f', compared with {percent(now)} now'}."


def settles_in_words(effects: Sequence[ColumnEffect], n_open: int) -> str:
    """How many of the open predictions the best column would settle; "" if there is none.

    >>> effect = ColumnEffect("age", "numeric", 9, 0.8, 0.7, 0.9, settled_if_clean=0.775)
    >>> settles_in_words([effect], 40)
    'If age were complete, about 31 of the 40 open predictions would be settled.'
    """
    best = max((one for one in effects if one.holes), key=_settles, default=None)
    if best is None or not n_open:
        return ""
    some = f"about {best.of_open(n_open):,} of the {n_open:,} open predictions"
    if n_open == 1:
        some = "the open prediction"
        if not best.of_open(1):
            return f"If {best.name} were complete, {some} would probably stay open."
    return f"If {best.name} were complete, {some} would be settled."


def _settles(effect: ColumnEffect) -> float:
    return effect.settled_if_clean


def sample_in_words(effects: Sequence[ColumnEffect], points_with_holes: int = 0) -> str:
    """That effects are estimated from a sample, and how well; "" if none is.

    Where points have holes, every way of filling them counts as a prediction of its own.
    """
    sampled = [one for one in effects if one.sample]
    if not sampled:
        return ""
    error = max(one.error for one in sampled)
    of = "ways of filling the open rows to predict" if points_with_holes else "open predictions"
    return (
        f"Columns: each draw was asked about {sampled[0].sample:,} of the {of}, chosen "
        f"at random; their standard error is at most {percent(max(error, 0.001))}."
    )


def draws_per_column(table: IncompleteTable) -> int:
    """How often a column is filled for a session: ten times, less often where there are many."""
    n_columns = int(table.holes.any(axis=0).sum())
    return min(10, max(1, MOST_DRAWS // max(1, n_columns)))


def _each(
    table: IncompleteTable,
    data: IncompleteDataset,
    points: Points,
    model: Model,
    n_samples: int,
    random_state: int,
    level: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[ColumnEffect]:
    """The columns one by one."""
    # Each completion of a point counts as a point of its own, as in a session.
    vectors, weights = points.vectors, points.vector_weights
    certain = is_certain(data, vectors, model.n_neighbors, model.metric)
    if not len(certain):
        raise CPCleanError("validation needs at least one point; got none.")
    # Knowing more takes candidates away: a point that is certain stays so, and a row that is far
    # from the others in every world stays far.
    doubtful, holes = vectors[~certain], table.holes
    drawn = level is not None and not data.is_exact
    most = min(MOST_ASKED, MOST_SHARED) if drawn else MOST_ASKED
    asked = _Asked(weights[~certain], n_samples, random_state, most)
    now, total = float(weights[certain].sum()), float(weights.sum())
    open_ = np.ones(len(doubtful), dtype=bool)
    if len(doubtful):
        near = near_rows(data, doubtful, model)
        data, holes = data.take(near), holes[near]
        open_ = ~_reached(data, doubtful, model, level)
    for number, column in enumerate(table.report):
        if progress is not None:
            progress(column.name)
        feature = table.space.features[number]
        shares, settled, sample = [now / total], [0.0 if open_.any() else 1.0], 0
        if len(doubtful) and feature is not None:
            fills = ColumnFills(data, holes[:, number], (feature.start, feature.stop))
            if fills.n_cells:
                rng, sample = np.random.default_rng([random_state, number]), asked.sample
                shares, settled = [], []
                for draw, some in enumerate(asked.vectors):
                    filled = fills.draw(rng)
                    found = is_certain(filled, doubtful[some], model.n_neighbors, model.metric)
                    shares.append((now + asked.weight(draw, found)) / total)
                    then, was_open = found.copy(), open_[some]
                    left = was_open & ~found
                    then[left] = _reached(filled, doubtful[some][left], model, level)
                    settled += asked.part(draw, then, was_open)
        yield ColumnEffect(
            column.name,
            column.kind,
            column.holes,
            # A sum of rounded shares may pass the highest of them by a rounding.
            min(max(float(np.mean(shares)), min(shares)), max(shares)),
            min(shares),
            max(shares),
            float(np.std(shares, ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else 0.0,
            sample,
            float(np.mean(settled)) if settled else 1.0,
        )


def _reached(
    data: IncompleteDataset, vectors: Floats, model: Model, level: float | None
) -> npt.NDArray[np.bool_]:
    """Whether predictions that are not certain are sure at a level; none are without one."""
    if level is None or not len(vectors):
        return np.zeros(len(vectors), dtype=bool)
    points = Points.of(vectors)
    shares = world_shares(data, points, model.n_neighbors, model.metric)
    return sure_by(shares, data, points, model, level)


class _Asked:
    """Which of the open predictions each draw is asked about, the same ones for every column.

    Attributes
    ----------
    sample : int
        How many, each as often as it was chosen; 0 if all of them are asked about.
    vectors : list of ndarray of int
        For each draw, numbers of the predictions.
    """

    def __init__(self, weights: Floats, n_draws: int, random_state: int, most: int) -> None:
        self.sample = most if len(weights) > most else 0
        self.vectors: list[Ints] = [np.arange(len(weights))] * n_draws
        self._weights: list[Floats] = [weights] * n_draws
        if self.sample:
            rng = np.random.default_rng([random_state, n_draws, self.sample])
            ends = np.cumsum(weights)
            step = ends[-1] / self.sample
            for draw in range(n_draws):
                # At equal steps from a random start: each is as likely as it weighs.
                at = (rng.random() + np.arange(self.sample)) * step
                chosen = np.minimum(np.searchsorted(ends, at, side="right"), len(ends) - 1)
                self.vectors[draw], times = np.unique(chosen, return_counts=True)
                self._weights[draw] = times * step

    def weight(self, draw: int, found: npt.NDArray[np.bool_]) -> float:
        """How much the predictions weigh for which something was found, among all open ones."""
        return float(self._weights[draw][found].sum())

    def part(
        self, draw: int, found: npt.NDArray[np.bool_], among: npt.NDArray[np.bool_]
    ) -> list[float]:
        """Which share of some of the predictions was found; nothing if a draw has none of them."""
        total = self.weight(draw, among)
        return [self.weight(draw, found & among) / total] if total > 0 else []
