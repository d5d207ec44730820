"""Files in: CSV, TSV, Parquet and Excel tables with nulls.

CSV and TSV tables may also list what a cell can be: see `cpclean.data.domains`.
"""

from __future__ import annotations

import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from cpclean.data.columns import column_from_objects, rounds, stripped, token_numbers
from cpclean.data.domains import domain_table
from cpclean.data.frames import check_names, pandas_module, series_of
from cpclean.errors import TableError, offenders

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".xlsx")

# Options of pandas that say where a cell ends, and nothing about what it holds.
_LAYOUT = {"sep", "delimiter", "quotechar", "quoting", "doublequote", "escapechar", "comment",
           "encoding", "encoding_errors", "compression", "skiprows", "skipinitialspace", "engine",
           "sheet_name"}  # fmt: skip
_UNREADABLE = (ValueError, OSError, EOFError, KeyError, ImportError, zlib.error, zipfile.BadZipFile)


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
        Read explicit domains, as `cpclean.data.domains` describes them. Nothing but null_tokens
        and empty cells is empty then; "NA" is a text.
    kinds : dict from column name to kind, optional
        "numeric", "categorical", "boolean", "date" or "duration", where another is detected. A
        "categorical" column keeps its text, such as "007", and all digits of whole numbers beyond
        2**53, which pandas rounds beside empty cells.
    **pandas_options
        For `pandas.read_csv`; with domains only those about separators, quotes and encoding.

    Returns
    -------
    pandas.DataFrame, or DomainTable if `domains`; either goes into `IncompleteTable` as it is.

    Examples
    --------
    >>> import io
    >>> frame = read_csv(io.StringIO("age,city\\n40, ?\\n?,A\\n"), null_tokens=["?"])
    >>> frame["age"].tolist(), frame["city"].isna().tolist()
    ([40.0, nan], [True, False])
    """
    file, tokens = _file("csv", path_or_buffer), stripped(null_tokens)
    if domains:
        if odd := sorted(pandas_options.keys() - _LAYOUT):
            raise TableError(f"domains=True reads the values itself; leave out {offenders(odd)}.")
        lines = file.lines({**pandas_options, "skipinitialspace": True})
        if len(lines) == 1:
            raise file.empty()
        return domain_table(lines, tokens, kinds or {}, file.name)
    if not pandas_options.keys() & {"engine", "sep", "delimiter", "low_memory"}:
        pandas_options["low_memory"] = False  # one dtype a column, however late a token comes
    return _plain(file, pandas_options, tokens, kinds or {})


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
    file = _file({".parquet": "parquet", ".xlsx": "excel"}[suffix], path)
    return _plain(file, pandas_options, stripped(null_tokens), kinds or {})


# -- any format: a frame with nulls ------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """A file of a format, under the name it has in messages; it can be opened more than once."""

    format: str
    name: str
    opened: Callable[[], Any]

    def read(self, options: Mapping[str, Any]) -> Any:
        pd = pandas_module()
        try:
            frame = getattr(pd, f"read_{self.format}")(self.opened(), **options)
        except pd.errors.EmptyDataError:
            raise self.empty() from None
        except _UNREADABLE as problem:
            told = f"{self.name} cannot be read as {self.format}: {str(problem).strip()}"
            raise TableError(told) from problem
        if not isinstance(frame, pd.DataFrame):
            raise TableError(f"{self.name} must be read as one table, not in chunks or sheets.")
        if frame.empty:
            raise self.empty()
        return frame

    def lines(self, options: Mapping[str, Any]) -> Any:
        """Every line as text, the header too."""
        layout = {key: value for key, value in options.items() if key in _LAYOUT | {"nrows"}}
        return self.read({**layout, "header": None, "dtype": str, "na_filter": False})

    def empty(self) -> TableError:
        return TableError(f"{self.name} is empty: a table needs column names and rows.")


def _file(format: str, given: Any) -> _File:
    if hasattr(given, "read"):
        content = given.read()
        memory = StringIO if isinstance(content, str) else BytesIO
        return _File(format, "the buffer", partial(memory, content))
    name = repr(os.fspath(given))
    if "://" in name:
        return _File(format, name, lambda: given)
    path = Path(given).expanduser()
    if not path.exists():
        raise TableError(f"there is no file {name}; the current folder is {str(Path.cwd())!r}.")
    if path.is_dir():
        raise TableError(f"{name} is a directory; name a file in it.")
    file = _File(format, name, lambda: path)
    if path.is_file() and path.stat().st_size == 0:
        raise file.empty()
    return file


def _plain(
    file: _File, options: dict[str, Any], tokens: tuple[str, ...], kinds: Mapping[str, str]
) -> Any:
    as_text = {column: str for column, kind in kinds.items() if kind == "categorical"}
    if file.format == "excel" and "dtype" not in options:
        # Left to itself, pandas makes numbers of truth values beside empty cells.
        frame = file.read({**options, "dtype": object})
        for column in frame.columns.difference(list(as_text), sort=False):
            frame[column] = _inferred(frame[column])
    else:
        if as_text and file.format == "csv" and isinstance(options.get("dtype", {}), Mapping):
            options["dtype"] = {**as_text, **options.get("dtype", {})}
        frame = file.read(options)
    check_names(_header(file, options, frame), kinds, file.name)
    for column in frame.columns if tokens or kinds else ():
        frame[column] = _with_nulls(frame[column], tokens, kinds.get(column))
    return frame


def _inferred(series: Any) -> Any:
    """A column of Excel's cells in a dtype of its own, where there is one."""
    inferred = series.infer_objects()
    dates = pandas_module().api.types.infer_dtype(inferred, skipna=True) == "datetime"
    return pandas_module().to_datetime(inferred) if dates else inferred


def _header(file: _File, options: Mapping[str, Any], frame: Any) -> list[Any]:
    """The names in the file, where pandas changes in silence what does not suit it."""
    names = list(frame.columns)
    # Row names such as 1, 2, 3 become a range, too, but one that does not begin with 0.
    counted = pandas_module().RangeIndex(len(frame))
    own_index = "index_col" not in options and not frame.index.equals(counted)
    if file.format == "csv" and own_index:  # the first cells of the rows became an index
        raise TableError(
            f"the rows of {file.name} have more cells than its header has names. Name every "
            "column, or pass index_col=False if the lines only end with a separator."
        )
    renamed = [re.fullmatch(r"(.*)\.[0-9]+", str(name), re.DOTALL) for name in names]
    if options.get("names") or not any(match and match[1] in names for match in renamed):
        return names
    header = options.get("header")
    skipped = {"skiprows": header} if isinstance(header, int) else {}
    lines = file.lines({**skipped, **options, "nrows": 1})
    written = [name for name in lines.iloc[0].tolist() if name in names]
    return written if len(set(written)) < len(written) else names


def _with_nulls(series: Any, tokens: tuple[str, ...], kind: str | None) -> Any:
    """Nulls where tokens stand, and values of the kind that is meant."""
    types = pandas_module().api.types
    if types.is_numeric_dtype(series) and not types.is_bool_dtype(series):
        gone = series.isin(token_numbers(tokens))
        if gone.any():
            # Doubles, which most columns become beside a null, would round large whole numbers.
            large = types.is_integer_dtype(series) and rounds(series.dropna().tolist())
            series = (series.astype("Int64") if large else series).mask(gone)
        if kind is None:
            return series
    read = column_from_objects(str(series.name), series.tolist(), kind, tokens)
    if kind is None and read.missing.sum() == series.isna().sum():
        return series
    if read.rounded:
        _warn_rounded(read.name)
    values = [read.shown(value) for value in read.values]
    if kind == "categorical":
        values = [None if value is None else str(value) for value in values]
    return series_of(values, series.index)


def _warn_rounded(name: str) -> None:
    warnings.warn(
        f"whole numbers beyond 2**53 are rounded in column {name!r}. "
        f'To keep all digits as text: kinds={{{name!r}: "categorical"}}.',
        UserWarning,
        stacklevel=5,
    )
