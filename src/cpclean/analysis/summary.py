"""Does missingness matter here? Facts about a table with holes, its columns and what to clean."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpclean.analysis.narrowing import OpenCell, Span, near_rows, open_cell
from cpclean.cleaning.session import CleaningSession
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats, is_whole
from cpclean.data.table import IncompleteTable
from cpclean.errors import CPCleanError
from cpclean.queries.certain import is_certain
from cpclean.queries.model import Metric

Bools = npt.NDArray[np.bool_]

# How many questions ahead a summary looks.
AHEAD = 10
# A gain that is only the rounding of sums, in nats.
NOTHING = 1e-12


@dataclass(frozen=True)
class Summary:
    """A table with holes, and what the holes mean for the predictions of validation points.

    Attributes
    ----------
    rows, columns : int
        Of the training table; the label is no column.
    rows_with_holes, cells_missing : int
        Before any answer; doubted cells count.
    worlds : str
        How many complete tables it stands for, as "10^62.9" where it is a million or more.
    points : int
        Validation points.
    certain_share : float
        The share of validation points that are certain.
    mean_entropy : float
        Of the validation points, in nats.
    accuracy : float or None
        The share of validation points whose label most prior mass predicts; None without labels.
    majority : float or None
        The share of validation points that have the most frequent label of the training rows.
    rows_that_help : int
        Rows whose cleaning is expected to take something from the mean entropy.
    first_rows : tuple of int
        The rows that would be asked for first, at most ten, and none that brings nothing.
    expected_fall : float
        What these are expected to take from the mean entropy together, about: each one's gain is
        the one expected if those before it turn out as is likeliest.
    """

    rows: int
    columns: int
    rows_with_holes: int
    cells_missing: int
    worlds: str
    points: int
    certain_share: float
    mean_entropy: float
    accuracy: float | None
    majority: float | None
    rows_that_help: int
    first_rows: tuple[int, ...]
    expected_fall: float


@dataclass(frozen=True)
class ColumnEffect:
    """What it would bring to clean one column, and nothing else.

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


def summary(session: CleaningSession, table: IncompleteTable) -> Summary:
    """The facts about a session's table and its validation points, as they are now.

    Parameters
    ----------
    session : CleaningSession
        Over `table`; with strategy "cells", the questions ahead are cells.
    table : IncompleteTable

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import CleaningSession, IncompleteTable
    >>> frame = pd.DataFrame({"size": [1, 2, None, 8, 9], "age": [3, 1, 2, 1, 2]})
    >>> table = IncompleteTable(frame, label=["s", "s", "s", "l", "l"])
    >>> points = pd.DataFrame({"size": [1, 8], "age": [3, 2]})
    >>> session = CleaningSession(table, points, n_neighbors=1)
    >>> facts = summary(session, table)
    >>> facts.rows_with_holes, facts.worlds, facts.certain_share, facts.first_rows
    (1, '5', 0.5, (2,))
    """
    ahead = [question for question in session.ask(AHEAD) if question.gain > NOTHING]
    known = session.y_val
    usual = session.data.classes[int(np.bincount(session.data.codes).argmax())]
    return Summary(
        rows=table.n_rows,
        columns=len(table.names),
        rows_with_holes=int(table.holes.any(axis=1).sum()),
        cells_missing=int(table.holes.sum()),
        worlds=worlds_text(session.data.n_worlds),
        points=len(session.certain),
        certain_share=session.certain_share,
        mean_entropy=session.mean_entropy,
        accuracy=None if known is None else session.accuracy(),
        majority=None if known is None else float(np.mean(known == usual)),
        rows_that_help=int((session.gains() > NOTHING).sum()),
        first_rows=tuple(question.row for question in ahead),
        expected_fall=float(sum(question.gain for question in ahead)),
    )


def worlds_text(number: int) -> str:
    """How many worlds, short.

    >>> worlds_text(5**90), worlds_text(625)
    ('10^62.9', '625')
    """
    return str(number) if number < 10**6 else f"10^{math.log10(number):.1f}"


def column_effects(
    table: IncompleteTable,
    X_val_encoded: Floats,
    n_neighbors: int = 3,
    metric: Metric = "euclidean",
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
    X_val_encoded : array of shape (n_points, n_features)
        Validation points, as `table.encode` gives them.
    n_neighbors, metric
        As in `is_certain`.
    n_samples : int
        Draws a column.
    random_state : int
        The same draws for the same data and points.
    data : IncompleteDataset, optional
        What is known now, such as `session.data`; by default `table.dataset`.
    progress : function of a column's name, optional
        Called before each column is looked at.

    Returns
    -------
    list of ColumnEffect
        One a column, in the table's order.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import IncompleteTable
    >>> frame = pd.DataFrame({"size": [1, 2, None, 8, 9], "age": [3, 1, 2, 1, 2]})
    >>> table = IncompleteTable(frame, label=["s", "s", "s", "l", "l"])
    >>> points = table.encode(pd.DataFrame({"size": [1, 8], "age": [3, 2]}))
    >>> effect = column_effects(table, points, n_neighbors=1)[0]
    >>> effect.name, effect.holes, effect.certain_if_clean
    ('size', 1, 1.0)
    """
    if not is_whole(n_samples) or n_samples < 1:
        raise CPCleanError(f"n_samples must be an int of at least 1; got {n_samples!r}.")
    data = table.dataset if data is None else data
    points = np.asarray(X_val_encoded, dtype=np.float64)
    certain = is_certain(data, points, n_neighbors, metric)
    if not len(points):
        raise CPCleanError("validation needs at least one point; got none.")
    # Knowing more takes candidates away: a point that is certain stays so, and a row that is far
    # from the others in every world stays far.
    doubtful, holes = points[~certain], table.holes
    if len(doubtful):
        near = near_rows(data, doubtful, n_neighbors, metric)
        data, holes = data.take(near), holes[near]
    effects = []
    for number, column in enumerate(table.report):
        if progress is not None:
            progress(column.name)
        feature = table.encoding.features[number]
        cells = {}
        if len(doubtful) and feature is not None:
            cells = _open_cells(data, holes[:, number], (feature.start, feature.stop))
        shares = [float(certain.mean())]
        if cells:
            rng = np.random.default_rng([random_state, number])
            known = (_drawn(data, cells, rng) for _ in range(n_samples))
            newly = [is_certain(one, doubtful, n_neighbors, metric).sum() for one in known]
            shares = [float((certain.sum() + count) / len(certain)) for count in newly]
        effects.append(
            ColumnEffect(
                column.name,
                column.kind,
                column.holes,
                # A sum of rounded shares may pass the highest of them by a rounding.
                min(max(float(np.mean(shares)), min(shares)), max(shares)),
                min(shares),
                max(shares),
            )
        )
    return effects


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
