"""Passes over all rows: what is learnt of a large table before any point is asked about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cpclean.data.coding import objects
from cpclean.data.column_reading import column_from_objects
from cpclean.data.columns import Column
from cpclean.data.exact_mean import ExactSum, exact_deviation
from cpclean.data.labels import encode_labels
from cpclean.data.nulls import is_token
from cpclean.data.row_counts import Combinations, missing_together
from cpclean.data.rows import Floats
from cpclean.data.streamed.class_counts import ClassCounts
from cpclean.data.streamed.first_look import ColumnTally, FirstLook
from cpclean.data.streamed.pieces import n_rows
from cpclean.data.streamed.rank_search import RankSearch
from cpclean.data.streamed.row_batches import BatchReader, read_all, rows_at_once
from cpclean.data.streamed.row_recipe import RowRecipe, codes_among
from cpclean.errors import TableError
from cpclean.progress_bar import Shown, progress_bar

# Rows without any value that are remembered to be told.
_EMPTY_TOLD = 100


@dataclass(frozen=True)
class Looked:
    """What the first looks found.

    Attributes
    ----------
    reader : BatchReader
        With the kinds of columns of text, as they were found.
    columns : list of Column
        They stand for all rows.
    classes, sizes : ndarray
        The labels, sorted, and how many rows have each.
    n_rows : int
        Rows with a label.
    n_holes : list of int
        Of each column.
    n_dirty : int
        Rows with a hole.
    together : dict from columns to int, or None
        As in `RowCounts`.
    empty : list of int
        Rows without any value; the first ones, if there are many.
    label_runs : int
        How often the label is another one than in the row before, and once for the first row.
    """

    reader: BatchReader
    columns: list[Column]
    classes: npt.NDArray[Any]
    sizes: list[int]
    n_rows: int
    n_holes: list[int]
    n_dirty: int
    together: Combinations | None
    empty: list[int]
    label_runs: int


def looked_at(reader: BatchReader, memory: int, deviations: bool, progress: Shown) -> Looked:
    """Look at all rows once, or twice where quartiles are to be found."""
    total = n_rows(reader.source)
    if not total:
        raise TableError("a table needs at least one row; the files have none.")
    text_kinds = _kinds_of_texts(reader, memory, progress) if reader.null_tokens else {}
    reader = replace(reader, kinds={**text_kinds, **reader.kinds})
    size = rows_at_once(memory, len(reader.names))
    look, n_dirty = FirstLook(len(reader.names), total), 0
    together: Combinations | None = {}
    empty: list[int] = []
    with progress_bar(total, "looking at columns", shown=progress) as follow:
        for batch in read_all(reader, reader.source.pieces, size, follow):
            look.add(batch)
            missing = np.column_stack([one.missing for one in batch.columns])
            n_dirty += int(missing.any(axis=1).sum())
            if together is not None:
                together = missing_together(missing, together)
            if len(empty) < _EMPTY_TOLD:
                empty += batch.rows[missing.all(axis=1)].tolist()
    if not look.labels:
        raise TableError("no row has a label.")
    classes = encode_labels(objects(list(look.labels)))[1]
    found = [tally.found() for tally in look.tallies]
    _second_look(reader, look.tallies, found, size, deviations, progress)
    columns = [
        Column.standing_for(_like(tally), own)
        for tally, own in zip(look.tallies, found, strict=True)
    ]
    sizes = [tally.size for tally in look.tallies]
    holes = [tally.size - tally.n_observed for tally in look.tallies]
    of_class = [look.labels[one] for one in classes.tolist()]
    found_of_rows = sizes[0], holes, n_dirty, together, empty, look.label_runs
    return Looked(reader, columns, classes, of_class, *found_of_rows)


def _like(tally: ColumnTally) -> Column:
    assert tally.like is not None
    return tally.like


def _kinds_of_texts(reader: BatchReader, memory: int, progress: Shown) -> dict[str, str]:
    """The kinds of columns of text in which there may be null tokens.

    Text that is only a column of numbers because a token such as "?" stood among them is found so
    by looking at all of it.
    """
    names = [name for name in (*reader.names, reader.label)
             if name in reader.source.texts and name not in reader.kinds]  # fmt: skip
    if not names:
        return {}
    numbers, tokens = dict.fromkeys(names, True), dict.fromkeys(names, False)
    some = dict.fromkeys(names, False)
    size, done = rows_at_once(memory, len(names)), 0
    with progress_bar(n_rows(reader.source), "looking at texts", shown=progress) as follow:
        for piece in reader.source.pieces:
            for frame in reader.source.frames(piece, names, size):
                table = nw.from_native(frame, eager_only=True)
                for name in names:
                    texts = table.get_column(name).unique().to_list()
                    own = [one for one in texts if isinstance(one, str)]
                    there = [one for one in own if not is_token(one, reader.null_tokens)]
                    tokens[name] |= len(there) < len(own)
                    some[name] |= bool(there)
                    if numbers[name] and there:
                        # One token beside them, and they are detected as numbers if they are.
                        asked = [*there, reader.null_tokens[0]]
                        kind = column_from_objects(name, asked, None, reader.null_tokens).kind
                        numbers[name] = kind == "numeric"
                done += len(frame)
                follow(done)
    return {
        name: "numeric" if tokens[name] and numbers[name] else "categorical"
        for name in names
        if some[name]
    }


def _second_look(
    reader: BatchReader,
    tallies: list[ColumnTally],
    found: list[dict[str, Any]],
    size: int,
    deviations: bool,
    progress: Shown,
) -> None:
    """Quartiles, deviations, and whether whole numbers have gaps; in as few passes as possible."""
    numbers = {
        cell: tally
        for cell, tally in enumerate(tallies)
        if tally.n_observed and _like(tally).kind != "categorical"
    }
    searches = {
        cell: RankSearch(one.n_observed, one.least, one.most, np.concatenate(one.sample))
        for cell, one in numbers.items()
    }
    squares = {cell: ExactSum() for cell in numbers} if deviations else {}
    marks = {
        cell: np.zeros(one.size, dtype=bool)
        for cell, one in numbers.items()
        if _like(one).whole and one.n_observed == one.size and one.most - one.least == one.size - 1
    }
    first = True
    while not all(search.is_done for search in searches.values()) or (first and (squares or marks)):
        with progress_bar(n_rows(reader.source), "finding quartiles", shown=progress) as follow:
            for batch in read_all(reader, reader.source.pieces, size, follow):
                for cell, search in searches.items():
                    seen: Floats = batch.columns[cell].observed
                    search.add(seen)
                    if first and cell in squares:
                        squares[cell].add((seen - found[cell]["mean"]) ** 2)
                    if first and cell in marks:
                        marks[cell][(seen - tallies[cell].least).astype(np.int64)] = True
        for search in searches.values():
            search.end_pass()
        first = False
    for cell, search in searches.items():
        found[cell]["quartiles"] = search.quartiles
        found[cell]["is_numbered"] = cell in marks and bool(marks[cell].all())
    for cell, one in squares.items():
        found[cell]["deviation"] = exact_deviation(one)


def counted(
    recipe: RowRecipe, limits: dict[int, Floats], progress: Shown
) -> tuple[ClassCounts, int, int]:
    """How many values lie where, by class; how many rows have candidates, and are to be drawn."""
    reader = recipe.reader
    counts = ClassCounts(recipe.columns, len(recipe.classes), limits)
    sizes, n_open, n_drawn = recipe.sizes().tolist(), 0, 0
    size = rows_at_once(recipe.memory, len(reader.names))
    with progress_bar(n_rows(reader.source), "counting values", shown=progress) as follow:
        for batch in read_all(reader, reader.source.pieces, size, follow):
            counts.add(batch.columns, codes_among(recipe.classes, batch))
            candidates = np.ones(len(batch.rows))
            for column, own in zip(batch.columns, sizes, strict=True):
                if own > 1:
                    candidates[column.missing] *= own
            n_open += int((candidates > 1).sum())
            n_drawn += int((candidates > recipe.drawing.most_written).sum())
    return counts, n_open, n_drawn
