"""Tables without holes: whole columns filled by a rule, an imputer, a frame or chosen candidates.

Every function returns the table's columns with the holes filled. Nothing is learnt from a doubted
cell, but it keeps its present value, except where a candidate is chosen for it. A hole in a column
without any known value is filled with the row's likeliest candidate; without one, it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cpclean.baselines.source import Source
from cpclean.data.columns import ABSENT, OTHER, Column
from cpclean.data.combinations import likeliest_number
from cpclean.data.frames import columns_from
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.repairs import Imputers, whole_domain
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.data.values import shown_alike
from cpclean.errors import DataError, TableError, offenders

Filled = list[Column]

# A rank beyond all categories: "other", which represents all the rest.
LAST = 1_000_000


def by_rule(
    table: IncompleteTable, number: Callable[[Floats], Any] = np.mean, rank: int = 0
) -> Filled:
    """Numbers by a function of the trusted ones, categories by their rank in frequency.

    Equally frequent categories go by their text. Where there are no more than `rank` of
    them, the category is "other"; in a boolean column, the less frequent value.
    """
    filled = []
    for place, column in enumerate(table.columns):
        values = column.values.copy()
        trusted = replace(column, values=column.values[~table.holes[:, place]])
        if column.missing.any() and trusted.n_observed:
            values[column.missing] = _usual(table, place, trusted, number, rank)
        elif column.missing.any():
            for row in np.flatnonzero(column.missing).tolist():
                likely = _likeliest(table, row).get(column.name)
                if likely is not None:
                    values[row] = column.stored(likely)
        filled.append(replace(column, values=values))
    return filled


def _usual(
    table: IncompleteTable, place: int, trusted: Column, number: Callable[[Floats], Any], rank: int
) -> Any:
    if trusted.kind not in ("categorical", "boolean"):
        return float(number(trusted.values))
    domain = whole_domain(trusted)
    if rank < len(domain):
        return domain[rank]
    feature = table.space.features[place]
    if trusted.kind == "boolean" or feature is None:
        return domain[-1]
    return OTHER if OTHER in feature.categories else ABSENT


def _likeliest(table: IncompleteTable, row: int) -> Mapping[str, Any]:
    return table.candidate(row, likeliest_number(table.dataset.stored_cells(row)))


def by_imputer(table: IncompleteTable, imputer: Any) -> Filled:
    """Numbers as a copy of an imputer fills them; categories are the most frequent ones."""
    check_imputer(imputer)
    known = []
    for place, column in enumerate(table.columns):
        values = column.values.copy()
        values[table.holes[:, place]] = None if column.kind == "categorical" else np.nan
        known.append(replace(column, values=values))
    filled = by_rule(table)
    imputed = [column.values.copy() for column in filled]
    for row, options in Imputers([imputer]).propose(known, table.holes).items():
        for cell, proposed in zip(options.cells, options.values, strict=True):
            if table.columns[cell].missing[row]:
                imputed[cell][row] = proposed[0]
    return _with_values(filled, imputed)


def _with_values(columns: Filled, values: Sequence[Any]) -> Filled:
    """The same columns with other values; a column works out what it knows of its values once."""
    return [replace(column, values=own) for column, own in zip(columns, values, strict=True)]


def check_imputer(imputer: Any) -> None:
    """Refuse what cannot fill holes."""
    if isinstance(imputer, type):
        name = imputer.__name__
        raise DataError(f"an imputer must be an object; got the class {name}. Pass {name}().")
    if not hasattr(imputer, "fit_transform"):
        raise DataError(
            "an imputer must have fit_transform, as scikit-learn's have; "
            f"got {type(imputer).__name__}."
        )


def by_candidates(table: IncompleteTable, numbers: Sequence[int]) -> Filled:
    """The candidate of every row that has this number."""
    filled = by_rule(table)
    values = [column.values.copy() for column in filled]
    for row in table.dataset.dirty_rows.tolist():
        chosen = table.candidate(row, int(numbers[row]))
        for column, own in zip(filled, values, strict=True):
            if column.name in chosen:
                own[row] = column.stored(chosen[column.name])
    return _with_values(filled, values)


def by_frame(table: IncompleteTable, frame: Any, what: str) -> Filled:
    """A whole version of the table as it was passed; an empty category is no category."""
    kinds = {column.name: column.kind for column in table.columns}
    given = {column.name: column for column in columns_from(frame, None, table.null_tokens)}
    if table.label is not None:
        given.pop(table.label, None)
    if tuple(given) != table.names:
        raise TableError(
            f"{what} must have the columns of the table, {offenders(map(repr, table.names), 8)}; "
            f"got {offenders(map(repr, given), 8)}."
        )
    filled = columns_from(frame, kinds, table.null_tokens)
    filled = [column for column in filled if column.name in given]
    for place, (column, feature) in enumerate(zip(filled, table.space.features, strict=True)):
        if len(column.values) != table.n_rows:
            raise TableError(
                f"{what} must have one row per row of the table, {table.n_rows} in all; "
                f"got {len(column.values)}."
            )
        if feature is None:
            continue
        if column.kind == "categorical":
            values = column.values.copy()
            values[column.missing] = ABSENT
            filled[place] = replace(column, values=values)
        elif column.missing.any():
            rows = offenders(np.flatnonzero(column.missing).tolist())
            raise TableError(f"{what} has holes in column {column.name!r}, row {rows}: fill them.")
    return filled


def encoded(table: IncompleteTable, filled: Filled) -> Floats:
    """Filled columns as vectors; a category that the space does not have is no category."""
    columns = []
    for column, feature in zip(filled, table.space.features, strict=True):
        if feature is not None and column.kind == "categorical":
            column = with_absent(column, feature.categories)
        columns.append(column)
    return table.space.encode(columns)


def with_absent(column: Column, known: Iterable[Any]) -> Column:
    """A categorical column in which a value that is not a known category is no category."""
    listed, values = set(known), column.values.copy()
    values[[value not in listed for value in values]] = ABSENT
    return replace(column, values=values)


def frame_of(table: IncompleteTable, filled: Filled) -> Any:
    """A frame like the table's own, label included."""
    return table.frame_of([shown_alike(column, column.values) for column in filled])


def with_holes(source: Source) -> Floats:
    """The training rows as vectors, NaN where they are uncertain.

    Of a dataset, which has no holes, that is where the candidates of a row differ.
    """
    if source.table is None:
        return _where_candidates_differ(source.dataset)
    table = source.table
    rows = table.space.encode(by_rule(table))
    for place, feature in enumerate(table.space.features):
        if feature is not None:
            rows[table.holes[:, place], feature.start : feature.stop] = np.nan
    return rows


def _where_candidates_differ(data: IncompleteDataset) -> Floats:
    rows = np.stack([data.candidate(row, 0) for row in range(data.n_rows)])
    for row in data.dirty_rows.tolist():
        for cell in data.cells(row):
            values, columns = np.asarray(cell.values), np.atleast_1d(np.asarray(cell.column))
            rows[row, columns[(values != values[0]).any(axis=0)]] = np.nan
    return rows
