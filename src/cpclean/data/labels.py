"""Labels of any hashable, sortable kind: out of a table, and to class numbers."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.coding import are_none, coded, exactly_coded, objects
from cpclean.data.columns import Column
from cpclean.data.nulls import is_null, is_token
from cpclean.data.rows import listed
from cpclean.errors import DataError, TableError, near, offenders

# From so many rows on, numbers that mostly differ are measurements rather than labels.
MIN_MEASURED = 10


def encode_labels(labels: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Class numbers and the sorted classes they index, as `numpy.unique` would give them."""
    array = _one_dimensional(labels)
    exact = exactly_coded(array.tolist()) if array.dtype.kind == "O" else None
    missing = _missing(array) if exact is None else exact.each(is_null)
    if missing.any():
        rows = offenders(np.flatnonzero(missing).tolist())
        raise DataError(
            f"every row needs a label; missing in row {rows}. "
            "Drop these rows, or give them a label of their own."
        )
    if exact is None:
        classes, codes = np.unique(array, return_inverse=True)
        return codes.astype(np.int64), classes
    try:
        found, distinct = coded(exact.distinct)
        order = sorted(range(len(distinct)), key=distinct.__getitem__)
    except TypeError as problem:
        raise DataError(
            f"labels must be hashable and sortable among each other; {problem}. "
            "Use one kind of label, for instance text, for all rows."
        ) from problem
    return np.argsort(order)[found][exact.codes], objects([distinct[place] for place in order])


def _one_dimensional(labels: Any) -> npt.NDArray[Any]:
    if isinstance(labels, np.ndarray) or hasattr(labels, "__array__"):
        array = np.asarray(labels)
    else:
        given = listed(labels, "labels must be a sequence with one label per row")
        try:
            array = np.asarray(given)
        except ValueError:  # tuples of different lengths
            array = objects(given)
        # NumPy would silently turn 1 into "1" beside text, True into 1 beside numbers, and
        # tuples into a second axis.
        if array.ndim != 1 or len({type(label) for label in given}) > 1:
            array = objects(given)
    if array.ndim != 1:
        raise DataError(f"labels must be one-dimensional, one per row; got shape {array.shape}.")
    return array


def _missing(array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind in "mM":
        return np.asarray(np.isnat(array))
    return np.zeros(len(array), dtype=bool)


# -- labels of a table ----------------------------------------------------------------------------


def split_label(
    columns: list[Column], label: Any, tokens: tuple[str, ...]
) -> tuple[list[Column], npt.NDArray[Any], str | None]:
    """The features, the labels with None where one is null, and the label column's name if any."""
    if not columns:
        raise TableError("a table needs at least one column; got none.")
    n_rows = len(columns[0].values)
    if label is None:
        raise TableError(
            'name the label column, as in label="y", or give one label per row as label=labels.'
        )
    if n_rows == 0:
        raise TableError("a table needs at least one row; got none.")
    if not isinstance(label, str) and hasattr(label, "__iter__"):
        listed = _listed(label, tokens)
        if len(listed) != n_rows:
            raise TableError(f"the table has {n_rows} rows, but {len(listed)} labels were given.")
        return columns, objects(listed), None
    label = str(label)  # columns of pandas may be called by numbers
    found = [column for column in columns if column.name == label]
    if not found:
        names = offenders((repr(column.name) for column in columns), 8)
        meant = near(label, (column.name for column in columns))
        raise TableError(f"there is no label column {label!r}; the columns are {names}.", meant)
    labels = objects(found[0].all_shown(found[0].values))
    rest = [column for column in columns if column.name != label]
    if not rest:
        raise TableError(f"besides the label {label!r} a table needs at least one column.")
    return rest, labels, label


def _listed(labels: Any, tokens: tuple[str, ...]) -> list[Any]:
    if isinstance(labels, Set | Mapping):
        raise TableError(
            f"labels must be in the order of the rows; got a {type(labels).__name__}. Use a list."
        )
    if len(getattr(labels, "shape", (0,))) != 1:
        raise TableError(f"labels must be one-dimensional, one per row; got shape {labels.shape}.")
    for method in ("tolist", "to_pylist"):  # arrays and series; pyarrow
        if hasattr(labels, method):
            labels = getattr(labels, method)()
            break
    given = list(labels)
    found = objects(given)
    found[exactly_coded(given).each(lambda one: is_null(one) or is_token(one, tokens))] = None
    return list(found.tolist())


def labelled_rows(labels: npt.NDArray[Any], drop: bool) -> npt.NDArray[np.int64]:
    """The rows that have a label; all of them, unless others may be dropped."""
    null = are_none(labels)
    if null.any() and not drop:
        raise TableError(
            f"every row needs a label; missing in row "
            f"{offenders(np.flatnonzero(null).tolist())}. "
            "Pass drop_unlabelled=True to leave these rows out."
        )
    if null.all():
        raise TableError("no row has a label.")
    _refuse_measured(labels[~null].tolist())
    return np.flatnonzero(~null)


def _refuse_measured(labels: list[Any]) -> None:
    """Refuse fractions that mostly differ: they were measured, and are no labels."""
    if len(labels) < MIN_MEASURED or not all(isinstance(one, float) for one in labels):
        return
    distinct = set(labels)
    if len(distinct) <= len(labels) / 2 or all(one.is_integer() for one in distinct):
        return
    raise TableError(
        f"the labels are {len(distinct):,} different numbers in {len(labels):,} rows, as "
        "measurements are. What is predicted is one of a few labels.",
        "Name another column, or put ranges in the place of the numbers, for instance with "
        "pandas.qcut(numbers, 3).",
        field="label",
    )
