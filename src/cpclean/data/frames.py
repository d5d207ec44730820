"""The one place that touches dataframes: any frame or 2-d array becomes columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np

from cpclean.data.columns import Column, as_kind, checked, column_from_objects, stripped
from cpclean.errors import TableError, offenders


def columns_from(
    frame: Any, kinds: Mapping[str, str] | None = None, null_tokens: Iterable[str] = ()
) -> list[Column]:
    """The columns of a pandas, polars or pyarrow frame, or of a 2-d array.

    Columns of an array are called x0, x1, and so on. Null are NaN, None, pandas.NA, polars' null,
    and text equal to one of null_tokens after stripping.
    """
    kinds = dict(kinds or {})
    columns = [
        as_kind(column, kinds.pop(column.name, column.kind))
        for column in _detected(frame, stripped(null_tokens))
    ]
    if kinds:
        raise TableError(
            f"kinds names columns that the table does not have: {offenders(map(repr, kinds))}."
        )
    return columns


def _detected(frame: Any, tokens: tuple[str, ...]) -> Iterator[Column]:
    if isinstance(frame, np.ndarray) or not hasattr(type(frame), "columns"):
        yield from _from_array(frame, tokens)
        return
    if hasattr(type(frame), "collect"):  # lazy: even asking for its names is work
        raise _not_in_memory(frame)
    names = [str(name) for name in _native_names(frame)]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise TableError(
            f"column names must be distinct; more than one column is called "
            f"{offenders(map(repr, twice))}. Rename them first."
        )
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as problem:
        raise _not_in_memory(frame) from problem
    for name, series in zip(names, table.iter_columns(), strict=True):
        yield _from_series(name, series, tokens)


def _not_in_memory(frame: Any) -> TableError:
    return TableError(
        "a table must be a pandas, polars or pyarrow frame in memory, or a 2-d array; got "
        f"{type(frame).__module__}.{type(frame).__qualname__}. Collect or convert it first."
    )


def _native_names(frame: Any) -> list[Any]:
    if hasattr(frame, "column_names"):  # pyarrow
        return list(frame.column_names)
    return list(frame.columns)


def _from_array(frame: Any, tokens: tuple[str, ...]) -> Iterator[Column]:
    try:
        array = np.asarray(frame)
    except ValueError as problem:
        raise TableError(f"a table must have rows of equal length; {problem}.") from problem
    if array.ndim != 2:
        raise TableError(
            f"a table must be a dataframe or have two dimensions; got shape {array.shape}."
        )
    for number, values in enumerate(array.T):
        name = f"x{number}"
        if array.dtype.kind in "fiu":
            yield checked(
                Column(name, "numeric", values.astype(np.float64), array.dtype.kind != "f")
            )
        else:
            if array.dtype.kind == "M":  # nanoseconds would come out as plain numbers
                values = values.astype("datetime64[us]")
            yield column_from_objects(name, values.tolist(), None, tokens)


def _from_series(name: str, series: Any, tokens: tuple[str, ...]) -> Column:
    dtype = series.dtype
    if dtype.is_numeric() and not dtype.is_decimal():
        numbers = np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        return checked(Column(name, "numeric", numbers, dtype.is_integer()))
    return column_from_objects(name, series.to_list(), _KINDS.get(type(dtype)), tokens)


_KINDS: dict[Any, str] = {
    nw.Decimal: "numeric",
    nw.Boolean: "boolean",
    nw.Date: "date",
    nw.Datetime: "date",
    nw.Categorical: "categorical",
    nw.Enum: "categorical",
}
