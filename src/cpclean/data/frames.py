"""The one place that touches dataframes: any frame or 2-d array becomes columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cpclean.data.coding import Coded
from cpclean.data.column_reading import (
    as_kind,
    column_from_objects,
    column_from_texts,
    rounds,
    without_tokens,
)
from cpclean.data.columns import KINDS, Column, checked
from cpclean.data.nulls import is_null, stripped
from cpclean.data.rows import Floats
from cpclean.errors import TableError, TableWarning, near, offenders, warn_caller

# Doubles hold whole numbers without gaps up to here.
_LARGEST = 2**53
# Until 2033: up to here, seconds with six decimals are the same however they are worked out.
_NEAR_MICROSECONDS = 2 * 10**15


def columns_from(
    frame: Any,
    kinds: Mapping[str, str] | None = None,
    null_tokens: Iterable[str] = (),
    exact: Collection[str] = (),
) -> list[Column]:
    """The columns of a pandas, polars or pyarrow frame, or of a 2-d array.

    Columns of an array are called x0, x1, and so on. Null are NaN, None, pandas.NA, polars' null,
    text equal to one of null_tokens after stripping, and numbers equal to one. Whole numbers that
    a double cannot hold are rounded, with a warning, unless their column is to be categorical or
    is named in `exact`.
    """
    if not isinstance(kinds, Mapping | None):
        raise TableError(f"kinds must be a dict from column name to kind; got {kinds!r}.")
    kinds, tokens = dict(kinds or {}), stripped(null_tokens)
    exact = {*exact, *(name for name, kind in kinds.items() if kind == "categorical")}
    columns = []
    for found in _detected(frame, tokens, exact):
        column = without_tokens(found, tokens)
        column = as_kind(column, kinds.pop(column.name, column.kind))
        columns.append(without_tokens(column, tokens))
    if kinds:
        raise TableError(
            f"kinds names columns that the table does not have: {offenders(map(repr, kinds))}.",
            near(next(iter(kinds)), (column.name for column in columns)),
            field="kinds",
            column=str(next(iter(kinds))),
        )
    if rounded := [column.name for column in columns if column.rounded]:
        named = offenders(map(repr, rounded))
        warn_caller(
            TableWarning(
                f"whole numbers beyond 2**53 are rounded in column {named}.",
                f'If they are identifiers: kinds={{{rounded[0]!r}: "categorical"}}, or drop them.',
                field="kinds",
                column=rounded[0],
            ),
        )
    return columns


def _detected(frame: Any, tokens: tuple[str, ...], exact: Collection[str]) -> Iterator[Column]:
    if not is_frame(frame):
        yield from _from_array(frame, tokens, exact)
        return
    names = distinct_names(frame)
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as problem:
        raise _not_in_memory(frame) from problem
    for name, series in zip(names, table.iter_columns(), strict=True):
        column = _from_series(name, series, tokens)
        yield _as_given(column, series.to_list, tokens) if name in exact else column


def _not_in_memory(frame: Any) -> TableError:
    return TableError(
        "a table must be a pandas, polars or pyarrow frame in memory, or a 2-d array; got "
        f"{type(frame).__module__}.{type(frame).__qualname__}. Collect or convert it first."
    )


def is_frame(table: Any) -> bool:
    """Whether columns have names of their own: a dataframe, lazy ones included."""
    return hasattr(type(table), "columns") and not isinstance(table, np.ndarray)


def names_of(table: Any) -> list[str]:
    """The names of a frame's columns as text; none for anything else."""
    if not is_frame(table):
        return []
    # Asked of the type, for a pandas frame has its columns as attributes too.
    arrow = hasattr(type(table), "column_names")
    return [str(name) for name in (table.column_names if arrow else table.columns)]


def distinct_names(frame: Any) -> list[str]:
    """The names of a frame that can be used: in memory, with every name only once."""
    if hasattr(type(frame), "collect"):  # lazy: even asking for its names is work
        raise _not_in_memory(frame)
    names = names_of(frame)
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise TableError(
            f"column names must be distinct; more than one column is called "
            f"{offenders(map(repr, twice))}. Rename them first."
        )
    return names


@dataclass(frozen=True)
class FrameKind:
    """What is needed to make another frame of the kind, the column order and the index of one."""

    library: str
    names: tuple[str, ...]
    index: Any = None  # pandas alone has one

    def label(self, row: int) -> Any:
        """What the frame itself calls one of its rows: its label in the index, or its number."""
        return int(row) if self.index is None else self.index[int(row)]

    def frame(self, columns: Mapping[str, list[Any]], rows: npt.NDArray[np.int64]) -> Any:
        """A frame of these columns; rows says where each of its rows stood in the other."""
        ordered = {name: columns[name] for name in self.names if name in columns}
        backend: Any = self.library
        made = nw.from_dict(ordered, backend=backend).to_native()
        if self.index is not None:
            made.index = self.index[rows]
        return made


def rows_of(table: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Some rows of a frame or an array, in this order."""
    if not is_frame(table):
        return np.asarray(table)[rows]
    return nw.from_native(table, eager_only=True)[rows.tolist()].to_native()


def kind_of_frame(frame: Any) -> FrameKind:
    """The kind of a frame; an array's is pandas."""
    if not is_frame(frame):
        size = np.asarray(unmasked(frame)).shape[1]
        return FrameKind("pandas", tuple(f"x{number}" for number in range(size)))
    library = str(nw.from_native(frame, eager_only=True).implementation)
    return FrameKind(library, tuple(names_of(frame)), getattr(frame, "index", None))


def unmasked(table: Any) -> Any:
    """None where an array is masked, which NumPy would forget; anything else as it is."""
    if not isinstance(table, np.ma.MaskedArray):
        return table
    plain = np.asarray(table).astype(object)
    plain[np.ma.getmaskarray(table)] = None
    return plain


def _as_given(column: Column, items: Callable[[], list[Any]], tokens: tuple[str, ...]) -> Column:
    """Categories as they stand in the frame where numbers are rounded or were text."""
    if not column.rounded and not column.given:
        return column
    given = column.given or column.kind
    return replace(column_from_objects(column.name, items(), "categorical", tokens), given=given)


def _from_array(frame: Any, tokens: tuple[str, ...], exact: Collection[str]) -> Iterator[Column]:
    try:
        array = np.asarray(unmasked(frame))
    except ValueError as problem:
        raise TableError(f"a table must have rows of equal length; {problem}.") from problem
    if array.ndim != 2:
        raise TableError(
            "a table must be a dataframe or have two dimensions; got shape "
            f"{array.shape} of type {type(frame).__name__}. Files are read by cpclean.read_table."
        )
    for number, values in enumerate(array.T):
        name = f"x{number}"
        if array.dtype.kind in "fiu":
            whole, numbers = array.dtype.kind != "f", values.astype(np.float64)
            rounded = whole and _rounded(numbers, values.tolist)
            column = checked(Column(name, "numeric", numbers, whole, rounded=rounded))
        else:
            if array.dtype.kind in "mM":  # nanoseconds would come out as plain numbers
                values = values.astype(f"{array.dtype.kind}8[us]")
            column = column_from_objects(name, values.tolist(), None, tokens)
        yield _as_given(column, values.tolist, tokens) if name in exact else column


def _rounded(numbers: Floats, items: Callable[[], list[Any]]) -> bool:
    """Whether whole numbers lost digits; the items themselves are asked for only if some may."""
    return bool((np.abs(numbers) >= _LARGEST).any()) and rounds(items())


def _from_series(name: str, series: Any, tokens: tuple[str, ...]) -> Column:
    dtype = series.dtype
    if dtype.is_numeric() and not dtype.is_decimal():
        try:
            numbers = _as_floats(series)
        except ValueError:  # pyarrow refuses whole numbers that it would have to round
            listed = series.to_list()
            numbers = np.array([np.nan if is_null(one) else float(one) for one in listed])
        whole = dtype.is_integer()
        rounded = whole and _rounded(numbers, series.to_list)
        return checked(Column(name, "numeric", numbers, whole, rounded=rounded))
    kind = _KINDS.get(type(dtype))
    if kind == "boolean":
        return checked(Column(name, kind, _as_floats(series)))
    if kind == "date" and (moments := _moments(series)) is not None:
        return checked(Column(name, kind, moments))
    if isinstance(dtype, nw.String) and (texts := _coded_texts(series.to_native())) is not None:
        return column_from_texts(name, texts, tokens)
    return column_from_objects(name, series.to_list(), kind, tokens)


def _coded_texts(series: Any) -> Coded | None:
    """The distinct texts of a series and which one each row has, where its library tells that."""
    if hasattr(series, "dictionary_encode"):  # pyarrow
        encoded = series.combine_chunks().dictionary_encode()
        if not hasattr(encoded, "indices"):  # too long to be in one piece
            return None
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Coded(codes.astype(np.int64), encoded.dictionary.to_pylist())
    if not hasattr(series, "factorize"):
        return None
    codes, distinct = series.factorize()
    return Coded(np.asarray(codes, dtype=np.int64), list(distinct))


def _as_floats(series: Any) -> Floats:
    """A copy of numbers or truths, NaN where they are null."""
    return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _moments(series: Any) -> Floats | None:
    """Dates without a zone as seconds since 1970; None where that takes a look at each of them."""
    if getattr(series.dtype, "time_zone", None) is not None:
        return None
    given = series.to_numpy()
    if given.dtype.kind != "M":
        return None
    whole = given.astype("M8[us]").astype(np.int64)
    null = np.isnat(given)
    # Libraries differ in how they round what is finer, or farther away.
    usual = (given == given.astype("M8[us]")) & (np.abs(whole) < _NEAR_MICROSECONDS)
    if not (usual | null).all():
        return None
    moments = whole / 1e6
    moments[null] = np.nan
    return np.asarray(moments)


_KINDS: dict[Any, str] = {
    nw.Decimal: "numeric",
    nw.Boolean: "boolean",
    nw.Date: "date",
    nw.Datetime: "date",
    nw.Duration: "duration",
    nw.Categorical: "categorical",
    nw.Enum: "categorical",
}


# -- frames out: what the reader hands to a person is pandas' --------------------------------------


def pandas_module() -> Any:
    """Pandas, or an error that says what it is needed for."""
    try:
        import pandas
    except ImportError as problem:
        raise TableError("files are read with pandas; install it: pip install pandas.") from problem
    return pandas


def series_of(values: list[Any], index: Any = None) -> Any:
    """As pandas infers it, except that whole numbers stay whole where some are null."""
    types = {type(value) for value in values}
    dtype = "Int64" if types == {int, type(None)} else None
    return pandas_module().Series(values, index, dtype=dtype)


def check_names(names: list[Any], kinds: Mapping[str, str], where: str) -> None:
    """Refuse names that stand twice in a file, and kinds of columns that it does not have."""
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise TableError(
            f"column names must be distinct; more than one column of {where} is called "
            f"{offenders(map(repr, twice))}. Rename them in the file.",
            column=str(twice[0]),
        )
    if odd := {
        name: kind for name, kind in kinds.items() if name not in names or kind not in KINDS
    }:
        raise TableError(
            f"kinds must map columns of {where} to one of {', '.join(KINDS)}; got {odd}.",
            field="kinds",
            column=str(next(iter(odd))),
        )
