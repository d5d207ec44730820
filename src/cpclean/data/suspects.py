"""Suspects: cells that are present but doubted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import Column
from cpclean.data.frames import names_of
from cpclean.data.rows import Bools
from cpclean.errors import TableError, offenders


def suspect_mask(suspects: Any, columns: Sequence[Column], n_rows: int) -> Bools:
    """Where cells are doubted, shape (n_rows, n_columns)."""
    mask = np.zeros((n_rows, len(columns)), dtype=bool)
    if suspects is None:
        return mask
    try:
        given = np.asarray(suspects)
    except ValueError:  # of different lengths
        given = np.empty(0)
    given = _by_name(given, names_of(suspects), columns)
    if given.dtype == bool:
        if given.shape != mask.shape:
            raise TableError(
                f"suspects as a mask must have shape {mask.shape}, one entry per feature cell; "
                f"got {given.shape}."
            )
        return np.asarray(given)
    numbers = {column.name: number for number, column in enumerate(columns)}
    try:
        cells = [(row, str(name)) for row, name in suspects]
    except (TypeError, ValueError) as problem:
        raise TableError(
            f"suspects must be a boolean mask or a list of (row, column name); got {suspects!r}."
        ) from problem
    for row, name in cells:
        if name not in numbers or row not in range(n_rows):
            raise TableError(f"suspects names row {row}, column {name!r}, which is not there.")
        mask[row, numbers[name]] = True
    return mask


def _by_name(
    given: npt.NDArray[Any], names: Sequence[str], columns: Sequence[Column]
) -> npt.NDArray[Any]:
    """A frame's columns in the order of the table, if it has their names; it may have more."""
    wanted = [column.name for column in columns]
    if not set(wanted) & set(names):
        return given  # without names: in order
    if lacking := [name for name in wanted if name not in names]:
        raise TableError(f"suspects as a mask lacks column {offenders(map(repr, lacking))}.")
    return given[:, [names.index(name) for name in wanted]]


def blanked(column: Column, doubted: Bools) -> Column:
    """A column with holes where its cells are doubted."""
    if not doubted.any():
        return column
    values = column.values.copy()
    values[doubted] = None if column.kind == "categorical" else np.nan
    return replace(column, values=values)
