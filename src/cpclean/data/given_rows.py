"""Rows of an incomplete dataset as a user gives them, checked and stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from cpclean.data.between import Between
from cpclean.data.row_arrays import RowArrays
from cpclean.data.rows import (
    FactoredRow,
    Floats,
    Ints,
    StoredRow,
    as_floats,
    check_finite,
    checked_weights,
    factored_row,
    is_whole,
    listed,
    plain_row,
)
from cpclean.errors import DataError, UnknownRowError, offenders

_SURE = np.ones(1)  # the prior of a single candidate


def checked_arrays(candidates: Any, priors: Any, each: str = "row") -> RowArrays:
    """Rows as a user gives them: candidates and priors, or factored rows.

    `each` is what one of them is called in errors.
    """
    complete = _complete_rows(candidates) if priors is None else None
    return RowArrays.of(_checked_rows(candidates, priors, each)) if complete is None else complete


def _complete_rows(candidates: Any) -> RowArrays | None:
    """Rows with one candidate each, if they come as one array of finite numbers."""
    if type(candidates) is not np.ndarray or candidates.dtype.kind not in "fiu":
        return None
    if candidates.ndim == 3 and candidates.shape[1] == 1:
        candidates = candidates[:, 0]
    if candidates.ndim != 2 or not candidates.size:
        return None
    base = np.array(candidates, dtype=np.float64, order="C")
    return RowArrays.complete(base) if np.isfinite(base).all() else None


def _checked_rows(candidates: Any, priors: Any, each: str) -> list[StoredRow]:
    given = listed(candidates, f"candidates must be a sequence with one candidate set per {each}")
    if not given:
        what = "an incomplete dataset needs" if each == "row" else "Points need"
        raise DataError(f"{what} at least one {each}; got none.")
    if priors is not None:
        priors = listed(priors, f"priors must be a sequence with one vector per {each}, or None")
    if priors is not None and len(priors) != len(given):
        raise DataError(
            f"priors must have one entry per {each}, {len(given)} in all; got {len(priors)}."
        )
    vectors = [
        None if isinstance(one, FactoredRow) else _vectors(one, f"{each} {row}")
        for row, one in enumerate(given)
    ]
    _check_widths(vectors, each)
    plain = [one for one in vectors if one is not None]
    if plain and not np.isfinite(np.concatenate(plain)).all():
        for row, one in enumerate(vectors):
            if one is not None:
                check_finite(one, f"the candidates of {each} {row}")
    width = plain[0].shape[1] if plain else None
    rows = []
    for number, (one, array) in enumerate(zip(given, vectors, strict=True)):
        prior = None if priors is None else priors[number]
        if array is None:
            if prior is not None:
                raise DataError(
                    f"{each} {number} is factored: give its priors in its cells, and None in "
                    "priors."
                )
            rows.append(factored_row(one, width, f"{each} {number}"))
            width = len(rows[-1].base)
        else:
            sure = prior is None and len(array) == 1
            weights = _SURE if sure else _weights(prior, len(array), f"{each} {number}")
            rows.append(plain_row(array, weights))
    return rows


def _weights(prior: Any, size: int, where: str) -> Floats:
    return checked_weights(prior, size, f"the prior of {where}")


def _vectors(one: Any, where: str) -> Floats:
    array = as_floats(one, f"the candidates of {where}")
    if array.ndim == 0:
        raise DataError(
            f"the candidates of {where} must have shape (m, n_features); got the number {array}. "
            "With one feature and one candidate, it is [[value]]."
        )
    if array.ndim == 1 and len(array):
        array = array[None, :]
    if array.size == 0 or len(array) == 0:
        raise DataError(
            f"{where} has an empty candidate set; every {where.split()[0]} needs at least one "
            "candidate."
        )
    if array.ndim != 2:
        raise DataError(
            f"the candidates of {where} must have shape (m, n_features); got {array.shape}."
        )
    return array


def _check_widths(vectors: list[Floats | None], each: str) -> None:
    widths = {row: one.shape[1] for row, one in enumerate(vectors) if one is not None}
    if len(set(widths.values())) > 1:
        usual = Counter(widths.values()).most_common(1)[0][0]
        odd = offenders(f"{each} {row} ({w})" for row, w in widths.items() if w != usual)
        raise DataError(
            f"all candidates must have the same number of features; most have {usual}, but {odd}."
        )


def checked_vector(value: Any, n_features: int, what: str) -> Floats:
    """One vector of finite numbers."""
    vector = as_floats(value, what)
    if vector.shape != (n_features,):
        raise DataError(f"{what} must have shape ({n_features},); got {vector.shape}.")
    check_finite(vector, what)
    return vector


def checked_known(known: Mapping[int, Any], n_features: int) -> dict[int, float | Between]:
    """What is known of a row: finite numbers or ranges, by number of column."""
    for column, value in known.items():
        if not is_whole(column) or not 0 <= column < n_features:
            raise DataError(f"known columns must be ints in [0, {n_features - 1}]; got {column!r}.")
        if isinstance(value, Between):
            continue
        number = as_floats(value, f"what is known of column {column}")
        if number.ndim:
            raise DataError(f"what is known of column {column} must be one number; got {value!r}.")
        check_finite(number, f"what is known of column {column}")
    return {
        int(column): value if isinstance(value, Between) else float(value)
        for column, value in known.items()
    }


def checked_row_numbers(rows: Any, n_rows: int) -> Ints:
    """Numbers of rows, at least one."""
    numbers = np.asarray(rows)
    if numbers.ndim != 1 or not len(numbers) or numbers.dtype.kind not in "iu":
        raise UnknownRowError(f"rows must be a sequence of at least one row number; got {rows!r}.")
    odd = numbers[(numbers < 0) | (numbers >= n_rows)]
    if len(odd):
        raise UnknownRowError(
            f"rows must be ints in [0, {n_rows - 1}] (the data has {n_rows} rows); "
            f"got {offenders(odd.tolist())}."
        )
    return numbers.astype(np.int64)
