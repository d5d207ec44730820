"""Which columns matter: what it would bring to clean one of them and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpclean.analysis.open_cells import OpenCell, open_cell
from cpclean.analysis.words import percent
from cpclean.cleaning.view import SessionView
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import Points
from cpclean.data.rows import is_whole
from cpclean.data.table import IncompleteTable
from cpclean.errors import CPCleanError
from cpclean.queries.cell_gains import Span
from cpclean.queries.certain import is_certain
from cpclean.queries.gather import near_rows
from cpclean.queries.model import Model

Bools = npt.NDArray[np.bool_]

MOST_DRAWS = 300  # of all columns of a session together
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
    """

    name: str
    kind: str
    holes: int
    certain_if_clean: float
    low: float
    high: float


def column_effects(
    table: IncompleteTable,
    points: Points | npt.ArrayLike,
    model: Model | None = None,
    n_samples: int = 10,
    random_state: int = 0,
    *,
    data: IncompleteDataset | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[ColumnEffect]:
    """The share of validation points that become certain if one column alone were clean.

    What its holes hold is not known, so it is drawn from the prior, each hole on its own, and
    certainty is worked out exactly for every draw.

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
    return list(_each(table, start, given, model or Model(), n_samples, random_state, progress))


def effects_in_session(view: SessionView, random_state: int = 0) -> list[ColumnEffect]:
    """The effects for a session's validation points; none if a person would wait too long."""
    table = view.table
    if table is None or view.model.precomputed or view.certain.all():
        return []
    end = time.perf_counter() + MOST_SECONDS
    found: list[ColumnEffect] = []
    draws = draws_per_column(table)
    for effect in _each(table, view.data, view.points, view.model, draws, random_state):
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
    about = "" if best.low == best.high else "about "
    then = (
        f"If {best.name} had no holes, {about}{percent(best.certain_if_clean)} of the predictions"
    )
    return f"{then} would be certain{'' if now is None else f', compared with {percent(now)} now'}."


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
    if len(doubtful):
        near = near_rows(data, doubtful, model)
        data, holes = data.take(near), holes[near]
    for number, column in enumerate(table.report):
        if progress is not None:
            progress(column.name)
        feature = table.space.features[number]
        cells = {}
        if len(doubtful) and feature is not None:
            cells = _open_cells(data, holes[:, number], (feature.start, feature.stop))
        shares = [float(weights[certain].sum() / weights.sum())]
        if cells:
            rng = np.random.default_rng([random_state, number])
            known = (_drawn(data, cells, rng) for _ in range(n_samples))
            newly = [
                weights[~certain][is_certain(one, doubtful, model.n_neighbors, model.metric)].sum()
                for one in known
            ]
            shares = [float((weights[certain].sum() + one) / weights.sum()) for one in newly]
        yield ColumnEffect(
            column.name,
            column.kind,
            column.holes,
            # A sum of rounded shares may pass the highest of them by a rounding.
            min(max(float(np.mean(shares)), min(shares)), max(shares)),
            min(shares),
            max(shares),
        )


def _open_cells(data: IncompleteDataset, holes: Bools, span: Span) -> dict[int, OpenCell]:
    """The uncertain cells of a column, by row."""
    rows = np.intersect1d(np.flatnonzero(holes), data.dirty_rows)
    found = {row: open_cell(data, row, span) for row in rows.tolist()}
    return {row: cell for row, cell in found.items() if cell is not None}


def _drawn(
    data: IncompleteDataset, cells: dict[int, OpenCell], rng: np.random.Generator
) -> IncompleteDataset:
    """The data if these cells are known to hold values drawn from their priors."""
    at = rng.random(len(cells))
    rows = {}
    for (row, cell), place in zip(cells.items(), at.tolist(), strict=True):
        ends = np.cumsum(cell.weights)
        # To the right: a value of weight 0 ends where the one before it does, and is passed over.
        number = int(np.searchsorted(ends, place * ends[-1], side="right"))
        rows[row] = cell.known(min(number, int(np.flatnonzero(cell.weights)[-1])))
    return data.with_rows(rows)
