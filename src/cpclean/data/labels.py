"""Labels of any hashable, sortable kind to class numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.rows import listed
from cpclean.errors import DataError, offenders


def encode_labels(labels: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Class numbers and the sorted classes they index, as `numpy.unique` would give them."""
    array = _one_dimensional(labels)
    missing = _missing(array)
    if missing.any():
        rows = offenders(np.flatnonzero(missing).tolist())
        raise DataError(
            f"every row needs a label; missing in row {rows}. "
            "Drop these rows, or give them a label of their own."
        )
    if array.dtype.kind != "O":
        classes, codes = np.unique(array, return_inverse=True)
        return codes.astype(np.int64), classes
    try:
        ordered = sorted(set(array.tolist()))
    except TypeError as problem:
        raise DataError(
            f"labels must be hashable and sortable among each other; {problem}. "
            "Use one kind of label, for instance text, for all rows."
        ) from problem
    number = {label: code for code, label in enumerate(ordered)}
    classes = _object_array(ordered)
    return np.array([number[label] for label in array], dtype=np.int64), classes


def _one_dimensional(labels: Any) -> npt.NDArray[Any]:
    if isinstance(labels, np.ndarray) or hasattr(labels, "__array__"):
        array = np.asarray(labels)
    else:
        given = listed(labels, "labels must be a sequence with one label a row")
        try:
            array = np.asarray(given)
        except ValueError:  # tuples of different lengths
            array = _object_array(given)
        # NumPy would silently turn 1 into "1" beside text, True into 1 beside numbers, and
        # tuples into a second axis.
        if array.ndim != 1 or len({type(label) for label in given}) > 1:
            array = _object_array(given)
    if array.ndim != 1:
        raise DataError(f"labels must be one-dimensional, one a row; got shape {array.shape}.")
    return array


def _object_array(items: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _missing(array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind in "mM":
        return np.asarray(np.isnat(array))
    if array.dtype.kind == "O":
        return np.array([_is_null(label) for label in array], dtype=bool)
    return np.zeros(len(array), dtype=bool)


def _is_null(label: Any) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)  # NaN and NaT
    except TypeError:  # pandas.NA refuses to be compared
        return True
