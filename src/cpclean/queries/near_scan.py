"""The rows of a large table that matter to points, found piece by piece.

Of some rows, those that can be near a point stand for all of them (`cpclean.queries.gather`). So
they do among more rows: a row that is not near a point here is not near it when others are added.
Pieces of a table are therefore looked at in any number of lots, here or elsewhere:

1. `scan` finds the rows of one piece that can be near the points, with nothing but the recipe of
   the table, the piece, and, to leave out more, some rows that are known to be near already;
2. `merged` does the same with what was found in several pieces.

Neither has more in memory than a batch of rows and what it found. `gather` does both for a table
of files, and makes a table of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.cluster.held import Held
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import Points
from cpclean.data.rows import Floats, Ints
from cpclean.data.streamed.pieces import Piece
from cpclean.data.streamed.row_recipe import RowRecipe, SomeRows
from cpclean.data.streamed.streamed_table import StreamedTable
from cpclean.data.table import IncompleteTable
from cpclean.data.whole_facts import WholeFacts
from cpclean.errors import QueryError
from cpclean.progress_bar import Follow, Shown, progress_bar
from cpclean.queries.gather import around, near_rows
from cpclean.queries.geometry import METRICS, ask
from cpclean.queries.magnitudes import smallest_size
from cpclean.queries.model import N_LEAVES, N_PLAIN, Metric, Model, hands_for

_NO_FACTS = WholeFacts()
# Rows beyond the nearest that are tried for answers of all kinds, one after the other.
SPARE = (32, 256)


@dataclass(frozen=True)
class NearRows:
    """Rows that can be near some points, among all rows that were looked at.

    Attributes
    ----------
    rows : SomeRows or None
        None if there were none to look at.
    facts : WholeFacts
        About all rows that were looked at.
    """

    rows: SomeRows | None = None
    facts: WholeFacts = _NO_FACTS

    @property
    def some_rows(self) -> SomeRows:
        """The rows, of a table that has rows."""
        assert self.rows is not None, "a table has rows"
        return self.rows


def scan(
    recipe: RowRecipe,
    piece: Piece,
    points: Points,
    model: Model,
    first: SomeRows | None = None,
    n_jobs: int | None = None,
) -> NearRows:
    """The rows of a piece that can be near some points.

    Parameters
    ----------
    recipe : RowRecipe
        Of the table.
    piece : Piece
    points : Points
        Encoded.
    model : Model
    first : SomeRows, optional
        Rows of other pieces: what is farther away than they are is left out. They may be among the
        result.
    n_jobs : int, optional
        Threads.
    """
    return _scanned_in_turn(Scan(recipe, (piece,), points, model), (piece,), first, n_jobs, None)


@dataclass(frozen=True)
class Scan:
    """What is looked for in which pieces of a table."""

    recipe: RowRecipe
    pieces: tuple[Piece, ...]
    points: Points
    model: Model


def scan_pieces(
    asked: Scan, numbers: Ints, n_jobs: int | None = None, follow: Follow | None = None
) -> list[NearRows]:
    """What some of the pieces have, one after the other: the rows that are near among all these."""
    pieces = [asked.pieces[number] for number in numbers.tolist()]
    return [_scanned_in_turn(asked, pieces, None, n_jobs, follow)]


def _scanned_in_turn(
    asked: Scan,
    pieces: Sequence[Piece],
    first: SomeRows | None,
    n_jobs: int | None,
    follow: Follow | None,
) -> NearRows:
    """The rows of some pieces that can be near the points, and rows that are known to be."""
    recipe, kept, facts = asked.recipe, first, _NO_FACTS
    waiting: list[SomeRows] = []
    n_waiting = 0

    def looked_at() -> SomeRows:
        lots = waiting if kept is None else [kept, *waiting]
        return _near(recipe, SomeRows.joined(lots), asked.points, asked.model, n_jobs)

    for piece in pieces:
        for rows in recipe.rows(piece):
            facts = facts.and_(_facts(recipe, rows))
            waiting.append(rows)
            n_waiting += len(rows.numbers)
            # New rows are looked at when they are as many as the kept ones, which are looked at
            # again with them: so many points, of many rows, cost no more than twice as much.
            if kept is None or n_waiting >= len(kept.numbers):
                kept, waiting, n_waiting = looked_at(), [], 0
        if follow is not None:
            follow(facts.n_rows)
    return NearRows(looked_at() if waiting else kept, facts)


def merged(
    recipe: RowRecipe,
    parts: Sequence[NearRows],
    points: Points,
    model: Model,
    n_jobs: int | None = None,
) -> NearRows:
    """What several scans found, as if it had been one; in any order."""
    facts = _NO_FACTS
    for part in parts:
        facts = facts.and_(part.facts)
    lots = [part.rows for part in parts if part.rows is not None]
    if not lots:
        return NearRows(None, facts)
    return NearRows(_near(recipe, SomeRows.joined(lots), points, model, n_jobs), facts)


def gather(
    table: StreamedTable,
    X: Any,
    n_neighbors: int | None = None,
    metric: Metric | None = None,
    *,
    spare: int = 0,
    n_jobs: int | None = None,
    progress: Shown = None,
    cluster: Any = None,
) -> IncompleteTable:
    """The rows of a table of files that matter to some points, as a table in memory.

    What is asked about these points has the same answers with this table as with all rows, bit for
    bit: certainty, counts and shares of worlds, entropies and gains. The files are read once.

    Parameters
    ----------
    table : StreamedTable
    X : frame, 2-d array, or Points
        As in `StreamedTable.points`.
    n_neighbors : int, optional
        By default 3, and 15 in a space of leaves.
    metric : str, optional
        By default "euclidean".
    spare : int
        Rows beyond the nearest that are kept for each point, for answers that are no candidates.
    n_jobs : int, optional
        Threads.
    progress : bool, or function of words and a share, optional
        Whether to show a progress bar; by default on a terminal.
    cluster : str or dask.distributed.Client, optional
        Who reads the files, which every worker has to see at the same addresses, as in
        `world_shares`. The result is the same.

    Returns
    -------
    IncompleteTable
        `rows_kept` has the numbers of its rows in the files; `StreamedTable.where` says which file
        that is.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from cpclean import StreamedTable, is_certain
    >>> folder = tempfile.TemporaryDirectory()
    >>> frame = pd.DataFrame({"age": [9, None, 6, 8], "rent": [9, 8, 7, 7], "buys": list("nyyy")})
    >>> frame.to_csv(f"{folder.name}/people.csv", index=False)
    >>> table = StreamedTable(f"{folder.name}/people.csv", label="buys")
    >>> points = table.points(pd.DataFrame({"age": [8], "rent": [8]}))
    >>> near = gather(table, points, n_neighbors=1)
    >>> near.rows_kept.tolist(), is_certain(near.dataset, points, n_neighbors=1).tolist()
    ([1, 3], [True])
    >>> folder.cleanup()
    """
    if not isinstance(table, StreamedTable):
        raise QueryError(
            f"gather finds rows of a StreamedTable; got {type(table).__name__}.",
            "The rows of a table in memory are at hand: ask about it as it is.",
            field="table",
        )
    points = X if isinstance(X, Points) else table.points(X)
    model = checked_model(table, n_neighbors, metric)
    found = scanned(table, points, model, spare, n_jobs, progress, cluster)
    return table.table_of(found.some_rows, replace(found.facts, spare=spare))


def gather_for_answers(
    table: StreamedTable,
    points: Points,
    model: Model,
    n_jobs: int | None = None,
    progress: Shown = None,
    cluster: Any = None,
) -> IncompleteTable:
    """The rows that matter to some points, whatever is answered about them.

    Rows without holes stay where they are. Where K of them are nearer to a point than all rows
    that were left out can be, these never matter to it, even if every answer is a surprise. Rows
    are gathered with more and more to spare until that is so around every point. If it never is,
    because hardly a row of the table is complete, the spare rows are counted as answers come in.
    """
    for spare in SPARE:
        found = scanned(table, points, model, spare, n_jobs, progress, cluster)
        near = table.table_of(found.some_rows, found.facts)
        if lasts(near.dataset, points, model, spare):
            return near
    return table.table_of(found.some_rows, replace(found.facts, spare=spare))


def lasts(data: IncompleteDataset, points: Points, model: Model, spare: int) -> bool:
    """Whether no answer about gathered rows can make rows matter that were left out."""
    if data.n_rows == data.n_rows_in_all:
        return True
    complete = np.flatnonzero(data.arrays.n_cells == 0)
    if len(complete) <= model.n_neighbors or data.n_rows <= model.n_neighbors + spare:
        return False
    query, fixed = ask(data, points, model), ask(data.take(complete), points, model)
    reach = around(query, np.full(len(query.vectors), spare)).reach
    # Strictly: at equal distances, a row that was left out may come first.
    return bool((around(fixed, np.zeros(len(reach), dtype=np.int64)).reach < reach).all())


def scanned(
    table: StreamedTable,
    points: Points,
    model: Model,
    spare: int = 0,
    n_jobs: int | None = None,
    progress: Shown = None,
    cluster: Any = None,
) -> NearRows:
    """The rows of all pieces that can be near some points, with so many to spare."""
    model = replace(model, n_neighbors=min(model.n_neighbors + spare, table.n_rows))
    asked = Scan(table.recipe, tuple(table.pieces), points, model)
    numbers = np.arange(len(asked.pieces))
    if cluster is None:
        with progress_bar(table.n_rows, "finding near rows", shown=progress) as follow:
            (found,) = scan_pieces(asked, numbers, n_jobs, follow)
    else:
        hands, held = hands_for(model, n_jobs, cluster), Held.of(asked)
        parts = hands.over(scan_pieces, held, (numbers,), 1, "finding near rows", always=True)
        found = merged(table.recipe, parts, points, model, n_jobs)
    return found if found.rows is None else replace(found, rows=table.marked(found.rows))


def checked_model(table: StreamedTable, n_neighbors: Any, metric: Metric | None) -> Model:
    """The model that is asked about, if rows near its points can be found piece by piece."""
    if n_neighbors is None:
        n_neighbors = N_PLAIN if table.leaves is None else min(N_LEAVES, table.n_rows)
    metric = "euclidean" if metric is None else metric
    if not isinstance(metric, str) or metric not in METRICS or metric == "precomputed":
        named = sorted(set(METRICS) - {"precomputed"})
        raise QueryError(
            f"metric must be one of {', '.join(named)} for a StreamedTable: a function, or "
            f"distances that are given, would have to see every row; got {metric!r}.",
            field="metric",
        )
    whole = isinstance(n_neighbors, int | np.integer) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors <= table.n_rows:
        raise QueryError(
            f"n_neighbors must be an int in [1, {table.n_rows}] (the number of training rows); got "
            f"{n_neighbors!r}.",
            field="n_neighbors",
        )
    return Model(int(n_neighbors), metric)


def _near(
    recipe: RowRecipe, rows: SomeRows, points: Points, model: Model, n_jobs: int | None
) -> SomeRows:
    data = recipe.dataset(rows)
    if model.n_neighbors >= data.n_rows:
        return rows
    if not points.n_points:  # any rows will do
        return rows.take(np.arange(model.n_neighbors))
    places: Ints = near_rows(data, points, model, n_jobs)
    return rows.take(places)


def _facts(recipe: RowRecipe, rows: SomeRows) -> WholeFacts:
    arrays = rows.arrays
    numbers: tuple[Floats, ...] = (arrays.base, arrays.values)
    exact = not len(recipe.drawing.drawn_rows(arrays))
    return replace(WholeFacts.of(arrays, smallest_size(*numbers)), is_exact=exact)
