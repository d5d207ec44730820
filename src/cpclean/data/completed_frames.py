"""Frames whose holes somebody has filled, such as the data sets of a multiple imputation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cpclean.data.columns import Column
from cpclean.data.frames import columns_from, is_frame
from cpclean.data.other_frames import read_as
from cpclean.data.rows import Bools
from cpclean.errors import TableError, offenders

# What is observed has to be the same in both; a library may have computed in single precision.
_TOLERANCE = 1e-6


def is_completed(given: Any) -> bool:
    """Whether this is a frame or a 2-d array."""
    return is_frame(given) or (isinstance(given, np.ndarray) and given.ndim == 2)


def completed_version(
    given: Any, name: str, columns: Sequence[Column], holes: Bools, rows: Sequence[int] | None
) -> list[Column]:
    """A completed frame as a version of a table.

    Parameters
    ----------
    given : frame or 2-d array
        With the rows of the table's frame in the same order, and the columns that have holes.
        Others, such as the label, may be there.
    name : str
        What an error calls it.
    columns : sequence of Column
        The columns of the table.
    holes : ndarray of shape (n_rows, n_columns)
    rows : sequence of int, optional
        Which of its rows are those of the table; all by default.
    """
    exact = [column.name for column in columns if column.kind == "categorical"]
    theirs = columns_from(given, None, (), exact)
    if not is_frame(given) and len(theirs) == len(columns):
        theirs = [
            replace(own, name=column.name) for own, column in zip(theirs, columns, strict=True)
        ]
    by_name = {column.name: column for column in theirs}
    n_rows = len(theirs[0].values) if theirs else 0
    wanted = np.arange(n_rows) if rows is None else np.asarray(rows, dtype=np.int64)
    if len(wanted) != len(holes) or (len(wanted) and wanted.max() >= n_rows):
        raise TableError(
            f"{name} must have the rows of the table, in the same order; it has {n_rows}."
        )
    version = []
    for column, own in zip(columns, holes.T, strict=True):
        if column.name not in by_name:
            if own.any():
                raise TableError(
                    f"{name} lacks column {column.name!r}, which has {int(own.sum())} holes. Fill "
                    "it there, too, or leave it out of the table.",
                    column=column.name,
                )
            version.append(column)
            continue
        found = by_name[column.name]
        found = read_as(replace(found, values=found.values[wanted]), column)
        _check(found, column, own, name)
        version.append(replace(column, values=np.where(own, found.values, column.values)))
    return version


def _check(found: Column, column: Column, holes: Bools, name: str) -> None:
    """Refuse a column with holes left, or with other values where there are none."""
    if (left := np.flatnonzero(holes & found.missing)).size:
        raise TableError(
            f"{name} has no value for the hole in row {offenders(left.tolist())}, column "
            f"{column.name!r}. Every hole has to be filled.",
            column=column.name,
            rows=left.tolist(),
        )
    seen = ~holes & ~column.missing
    if column.kind == "categorical":
        same = np.array(
            [ours == other for ours, other in zip(column.values, found.values, strict=True)], bool
        )
    else:
        same = np.isclose(found.values, column.values, rtol=_TOLERANCE, atol=0)
    if (other := np.flatnonzero(seen & ~same)).size:
        row = int(other[0])
        raise TableError(
            f"{name} says {found.shown(found.values[row])!r} in row {row}, column "
            f"{column.name!r}, where the table has {column.shown(column.values[row])!r}. Completed "
            "frames must have the table's rows in the same order, and change nothing but holes.",
            column=column.name,
            rows=other.tolist(),
        )
