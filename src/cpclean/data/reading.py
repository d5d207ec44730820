r"""Files in: CSV, TSV, Parquet and Excel tables, and CSV tables that list what a cell can be.

Explicit domains (``domains=True``), which `write_domains` writes back:

* A header ``age[18|30|65]`` gives column ``age`` its domain; a cell ``[2|3]`` lists the cell's own
  candidates. An empty cell takes its column's domain. Any other cell, or one value, is certain.
* A column whose values (cells, lists and domain) all are numbers is a column of numbers.
* A backslash makes ``|``, ``[``, ``]``, a space or a backslash after it part of the text; before
  anything else it is just a backslash. Cells that do not begin with ``[`` need it for none but
  backslashes and outer spaces, which are dropped otherwise. Commas, quotes and line ends: CSV quotes.

>>> import io
>>> read = read_csv(io.StringIO("age[18|30|65],pets,y\n40,[2|3],no\n,0,yes\n"), domains=True)
>>> read.repairs.by_column, read.repairs.by_cell
({'age': (18, 30, 65)}, {(0, 'pets'): (2, 3)})
"""

from __future__ import annotations

import csv
import math
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.data.columns import KINDS, OTHER, Column, is_null
from cpclean.data.repairs import Bools, Options
from cpclean.errors import TableError, offenders

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".xlsx")

# Options of pandas that say where a cell ends, and nothing about what it holds.
_LAYOUT = {"sep", "delimiter", "quotechar", "quoting", "doublequote", "escapechar", "comment",
           "encoding", "encoding_errors", "compression", "skiprows", "engine", "sheet_name"}  # fmt: skip
_UNREADABLE = (ValueError, OSError, EOFError, KeyError, ImportError, zlib.error, zipfile.BadZipFile)
_TRUTH = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MARK = re.compile(r"\\[\\|\[\]\s]|.", re.DOTALL)  # one character, escaped or not
_TO_ESCAPE = re.compile(r"[\\|\[\]]|\A\s|\s\Z")


@dataclass(frozen=True)
class Domains:
    """A repair that proposes exactly what a file lists, in every combination within a row."""

    n_rows: int
    by_column: Mapping[str, tuple[Any, ...]]
    by_cell: Mapping[tuple[int, str], tuple[Any, ...]]  # (row, column) -> the cell's own candidates

    def propose(self, columns: Sequence[Column], holes: Bools) -> dict[int, Options]:
        """Options of every row with a hole; holes has shape (rows, columns)."""
        if len(holes) != self.n_rows:
            raise TableError(
                f"these domains belong to a table of {self.n_rows} rows; got one of {len(holes)}. "
                "Use the frame as it was read, with a label in every row."
            )
        options = {}
        for row in np.flatnonzero(holes.any(axis=1)).tolist():
            cells = tuple(np.flatnonzero(holes[row]).tolist())
            options[row] = Options(cells, tuple(self._of(row, columns[cell]) for cell in cells))
        return options

    def _of(self, row: int, column: Column) -> tuple[Any, ...]:
        listed = self.by_cell.get((row, column.name)) or self.by_column.get(column.name)
        if not listed:
            raise _without_domain([row], column.name)
        return tuple(dict.fromkeys(column.stored(value) for value in listed))


@dataclass(frozen=True, eq=False)
class DomainTable:
    """A table with explicit domains.

    Attributes
    ----------
    frame : pandas.DataFrame
        Plain column names; null where a cell is uncertain.
    repairs : Domains
        What these cells can be.

    Examples
    --------
    >>> import io
    >>> from cpclean import IncompleteTable
    >>> text = "age[18|30|65],pets,y\\n40,[2|3],no\\n,0,yes\\n50,1,no\\n"
    >>> read = read_csv(io.StringIO(text), domains=True)
    >>> table = IncompleteTable(read.frame, label="y", repairs=read.repairs)
    >>> table.candidates(1)
    [{'age': 18}, {'age': 30}, {'age': 65}]
    """

    frame: Any
    repairs: Domains


def read_csv(
    path_or_buffer: Any,
    *,
    null_tokens: Iterable[str] = (),
    domains: bool = False,
    kinds: Mapping[str, str] | None = None,
    **pandas_options: Any,
) -> Any:
    """Read a CSV file as a table with nulls, or as one with explicit domains.

    Parameters
    ----------
    path_or_buffer : path, or object with `read`
    null_tokens : iterable of str
        Text that stands for nothing, besides what pandas takes for it; compared after stripping,
        numbers as numbers. A column that was text only because of tokens is numeric again.
    domains : bool
        Read explicit domains, as the head of this module describes them. Nothing but null_tokens
        and empty cells is empty then; "NA" is a text.
    kinds : dict from column name to "numeric", "categorical", "boolean" or "date", optional
        Read columns as these kinds; a "categorical" one keeps its text, such as "007".
    **pandas_options
        For `pandas.read_csv`; with domains only those about separators, quotes and encoding.

    Returns
    -------
    pandas.DataFrame, or DomainTable if `domains`

    Examples
    --------
    >>> import io
    >>> frame = read_csv(io.StringIO("age,city\\n40, ?\\n?,A\\n"), null_tokens=["?"])
    >>> frame["age"].tolist(), frame["city"].isna().tolist()
    ([40.0, nan], [True, False])
    """
    name, opened = _source(path_or_buffer)
    if domains:
        if odd := sorted(pandas_options.keys() - _LAYOUT):
            raise TableError(f"domains=True reads the values itself; leave out {offenders(odd)}.")
        cells = _read("csv", opened, name, _as_text(pandas_options))
        return _domain_table(cells, name, _tokens(null_tokens), dict(kinds or {}))
    if not pandas_options.keys() & {"engine", "low_memory", "sep", "delimiter"}:
        pandas_options["low_memory"] = False  # one dtype a column, however late a token comes
    return _plain("csv", opened, name, _tokens(null_tokens), dict(kinds or {}), pandas_options)


def read_table(
    path: str | os.PathLike[str],
    *,
    null_tokens: Iterable[str] = (),
    domains: bool = False,
    kinds: Mapping[str, str] | None = None,
    **pandas_options: Any,
) -> Any:
    """Read a .csv or .tsv (also .gz), .parquet or .xlsx file; all else is as in `read_csv`.

    Options are for pandas' reader of the format. Domains are read from CSV and TSV only.
    """
    suffix = next((one for one in SUFFIXES if str(path).lower().endswith(one)), "")
    if suffix.startswith((".csv", ".tsv")):
        if suffix.startswith(".tsv") and not pandas_options.keys() & {"sep", "delimiter"}:
            pandas_options["sep"] = "\t"
        return read_csv(
            path, null_tokens=null_tokens, domains=domains, kinds=kinds, **pandas_options
        )
    if not suffix or domains:
        usable = ".csv or .tsv file for domains=True" if suffix else f"{', '.join(SUFFIXES)} file"
        raise TableError(f"path must name a {usable}; got {os.fspath(path)!r}.")
    name, opened = _source(path)
    reader = {".parquet": "parquet", ".xlsx": "excel"}[suffix]
    return _plain(reader, opened, name, _tokens(null_tokens), dict(kinds or {}), pandas_options)


def write_domains(table: Any, path_or_buffer: Any) -> None:
    r"""Write a DomainTable, or an IncompleteTable, with explicit domains; .gz compresses.

    Reading it gives an equal table, except that a text column that looks like numbers has to be
    named in `kinds`, as have booleans (written 0 and 1) and dates. Of an IncompleteTable the label
    comes last, and the category "other" becomes a text.

    Examples
    --------
    >>> import io, sys
    >>> read = read_csv(io.StringIO("age[18|30], city\n , [A|B\\|C]\n 7,D\n"), domains=True)
    >>> write_domains(read, sys.stdout)
    age[18|30],city
    ,[A|B\|C]
    7,D
    """
    given = table if isinstance(table, DomainTable) else _explicit(table)
    listed: dict[str, list[str]] = {}
    for name in given.frame.columns:
        domain, cells = given.repairs.by_column.get(name, ()), []
        for row, value in enumerate(given.frame[name].tolist()):
            own = given.repairs.by_cell.get((row, name))
            if is_null(value) and not own and not domain:
                raise _without_domain([row], name)
            cells.append(_text(value) if not is_null(value) else _list_text(own) if own else "")
        listed[_text(str(name)) + (_list_text(domain) if domain else "")] = cells
    # Python's csv leaves a lone carriage return unquoted, and readers take it for a line end.
    returns = any("\r" in text for text in chain(listed, *listed.values()))
    tabs = str(path_or_buffer).lower().endswith((".tsv", ".tsv.gz"))
    try:
        _pandas().DataFrame(listed).to_csv(
            path_or_buffer,
            sep="\t" if tabs else ",",
            index=False,
            lineterminator="\n",
            quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL,
        )
    except OSError as problem:
        raise TableError(f"cannot write {path_or_buffer}: {problem}.") from problem


# -- any format: a frame with nulls ------------------------------------------------------------


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as problem:
        raise TableError("files are read with pandas; install it: pip install pandas.") from problem
    return pandas


def _source(given: Any) -> tuple[str, Callable[[], Any]]:
    """What to call it, and a function that opens it anew."""
    if hasattr(given, "read"):
        content = given.read()
        name = str(getattr(given, "name", "the buffer"))
        return name, partial(StringIO if isinstance(content, str) else BytesIO, content)
    if "://" in str(given):
        return str(given), lambda: given
    path = Path(given).expanduser()
    if not path.exists():
        raise TableError(f"there is no file {str(given)!r} (from folder {str(Path.cwd())!r}).")
    if path.is_dir():
        raise TableError(f"{str(given)!r} is a directory; name a file in it.")
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{str(given)!r} is empty: a table needs column names and rows.")
    return repr(str(given)), lambda: path


def _read(reader: str, opened: Callable[[], Any], name: str, options: dict[str, Any]) -> Any:
    pd = _pandas()
    try:
        frame = getattr(pd, f"read_{reader}")(opened(), **options)
    except pd.errors.EmptyDataError as problem:
        raise TableError(f"{name} is empty: a table needs column names and rows.") from problem
    except _UNREADABLE as problem:
        raise TableError(f"{name} cannot be read as {reader}: {str(problem).strip()}") from problem
    if not isinstance(frame, pd.DataFrame):
        raise TableError(f"{name} must be read as one table; leave out chunks and further sheets.")
    if frame.empty:
        raise TableError(f"{name} is empty: a table needs column names and rows.")
    return frame


def _as_text(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options to read every line, the header too, as text."""
    layout = {key: value for key, value in options.items() if key in _LAYOUT}
    return {**layout, "header": None, "dtype": str, "na_filter": False}


def _plain(
    reader: str,
    opened: Callable[[], Any],
    name: str,
    tokens: set[str],
    kinds: dict[str, str],
    options: dict[str, Any],
) -> Any:
    pd, dtype = _pandas(), options.get("dtype") or {}
    if reader != "parquet" and isinstance(dtype, Mapping):
        as_text = {column: str for column, kind in kinds.items() if kind == "categorical"}
        options["dtype"] = dtype = {**as_text, **dtype}
    frame = _read(reader, opened, name, options)
    if reader == "csv" and not (
        "index_col" in options or isinstance(frame.index, pd.RangeIndex)
    ):
        raise TableError(
            f"the rows of {name} have more cells than its header has names. Name every column, "
            "or pass index_col=False if the lines only end with a separator."
        )
    header = list(frame.columns)
    renamed = (re.fullmatch(r"(.*)\.[0-9]+", str(column), re.DOTALL) for column in header)
    if any(match and match[1] in header for match in renamed) and not options.get("names"):
        lines = _as_text(options)
        if isinstance(options.get("header"), int):
            lines["skiprows"] = lines.get("skiprows") or options["header"]
        header = _read(reader, opened, name, {**lines, "nrows": 1}).iloc[0].tolist()
        header = [column for column in header if column in frame.columns]
    _check_distinct(header, name)
    _check_kinds(kinds, header, name)
    for column in frame.columns:
        asked = column in kinds or not isinstance(dtype, Mapping) or column in dtype
        frame[column] = _with_nulls(frame[column], tokens, asked)
    for column, kind in kinds.items():
        values = [None if is_null(one) else one for one in frame[column].tolist()]
        if kind != "categorical" or not all(isinstance(one, str | None) for one in values):
            frame[column] = _series(values, _converted(values, column, kind), kind)
    return frame


def _tokens(null_tokens: Iterable[str]) -> set[str]:
    given = [null_tokens] if isinstance(null_tokens, str) else null_tokens
    return {token.strip() for token in given}


def _with_nulls(series: Any, tokens: set[str], keep_text: bool) -> Any:
    """Nulls where tokens stand; then numbers and truth values that were text because of them."""
    pd = _pandas()
    numbers = {float(token) for token in tokens if _NUMBER.fullmatch(token)}
    of_numbers = pd.api.types.is_numeric_dtype(series)
    if pd.api.types.is_bool_dtype(series) or (of_numbers and not numbers):
        return series
    hit = [
        one.strip() in tokens if isinstance(one, str)
        else isinstance(one, int | float) and one in numbers
        for one in series.tolist()
    ]  # fmt: skip
    if not any(hit):
        return series
    series = series.mask(np.array(hit))
    if of_numbers or keep_text:
        return series
    rest = [str(one).strip() for one in series.dropna().tolist()]
    if rest and all(one.lower() in ("true", "false") for one in rest):
        return _series(series.tolist(), {}, "boolean")
    what = pd.api.types.infer_dtype(series, skipna=True)
    if what in ("string", "integer", "floating", "mixed-integer", "mixed-integer-float", "empty"):
        read = pd.to_numeric(series, errors="coerce")
        return read if read.notna().equals(series.notna()) else series
    return series.infer_objects()
