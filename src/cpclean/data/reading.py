r"""Files in: CSV, TSV, Parquet and Excel tables, and CSV tables that list what a cell can be.

Explicit domains (``domains=True``), which `write_domains` writes back:

* A header ``age[18|30|65]`` gives column ``age`` its domain; a cell ``[2|3]`` lists the cell's own
  candidates. An empty cell takes its column's domain. Any other cell, or one value, is certain.
* A column whose values (cells, lists and domain) all are numbers is a column of numbers.
* Spaces around names, cells and listed values do not count.
* A backslash makes a ``|``, bracket, space or backslash after it part of the text; before anything
  else it is just a backslash. Commas, quotes and line ends in text are quoted as CSV does.
  A name with brackets always needs backslashes, a cell only if it begins with a bracket.

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
from datetime import date
from functools import partial
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.data.columns import KINDS, OTHER, Column, column_from_objects, is_null
from cpclean.data.repairs import Bools, Options
from cpclean.errors import TableError, offenders

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".xlsx")

# Options of pandas that say where a cell ends, and nothing about what it holds.
_LAYOUT = {"sep", "delimiter", "quotechar", "quoting", "doublequote", "escapechar", "comment",
           "encoding", "encoding_errors", "compression", "skiprows", "skipinitialspace", "engine",
           "sheet_name"}  # fmt: skip
_UNREADABLE = (ValueError, OSError, EOFError, KeyError, ImportError, zlib.error, zipfile.BadZipFile)
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
    file, tokens = _file("csv", path_or_buffer), _stripped(null_tokens)
    if domains:
        if odd := sorted(pandas_options.keys() - _LAYOUT):
            raise TableError(f"domains=True reads the values itself; leave out {offenders(odd)}.")
        return _domain_table(file, pandas_options, tokens, kinds or {})
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
    return _plain(file, pandas_options, _stripped(null_tokens), kinds or {})


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
            own = given.repairs.by_cell.get((row, name), ())
            if is_null(value) and not own and not domain:
                raise _without_domain([row], name)
            cells.append(_list_text(own) if is_null(value) else _text(value))
        listed[_text(str(name)) + _list_text(domain)] = cells
    # Python's csv may leave a lone carriage return unquoted, and readers take it for a line end.
    returns = any("\r" in text for text in chain(listed, *listed.values()))
    quoting = csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
    sep = "\t" if str(path_or_buffer).lower().endswith((".tsv", ".tsv.gz")) else ","
    try:
        _pandas().DataFrame(listed).to_csv(
            path_or_buffer, index=False, sep=sep, quoting=quoting, lineterminator="\n"
        )
    except OSError as problem:
        raise TableError(f"cannot write {str(path_or_buffer)!r}: {problem}.") from problem


# -- any format: a frame with nulls ------------------------------------------------------------


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as problem:
        raise TableError("files are read with pandas; install it: pip install pandas.") from problem
    return pandas


@dataclass(frozen=True)
class _File:
    """A file of a format, under the name it has in messages; it can be opened more than once."""

    format: str
    name: str
    opened: Callable[[], Any]

    def read(self, options: Mapping[str, Any]) -> Any:
        pd = _pandas()
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


def _plain(file: _File, options: dict[str, Any], tokens: set[str], kinds: Mapping[str, str]) -> Any:
    as_text = {column: str for column, kind in kinds.items() if kind == "categorical"}
    if as_text and file.format != "parquet" and isinstance(options.get("dtype", {}), Mapping):
        options["dtype"] = {**as_text, **options.get("dtype", {})}
    frame = file.read(options)
    _check_names(_header(file, options, frame), kinds, file.name)
    for column in frame.columns if tokens or kinds else ():
        frame[column] = _with_nulls(frame[column], tokens, kinds.get(column))
    return frame


def _header(file: _File, options: Mapping[str, Any], frame: Any) -> list[Any]:
    """The names in the file, where pandas changes in silence what does not suit it."""
    names = list(frame.columns)
    own_index = "index_col" not in options and not isinstance(frame.index, _pandas().RangeIndex)
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


def _check_names(names: list[Any], kinds: Mapping[str, str], where: str) -> None:
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise TableError(
            f"column names must be distinct; more than one column of {where} is called "
            f"{offenders(map(repr, twice))}. Rename them in the file."
        )
    if odd := {
        name: kind for name, kind in kinds.items() if name not in names or kind not in KINDS
    }:
        raise TableError(
            f"kinds must map columns of {where} to one of {', '.join(KINDS)}; got {odd}."
        )


def _with_nulls(series: Any, tokens: set[str], kind: str | None) -> Any:
    """Nulls where tokens stand, and values of the kind that is meant."""
    types = _pandas().api.types
    if types.is_numeric_dtype(series) and not types.is_bool_dtype(series):
        gone = series.isin([float(token) for token in tokens if _NUMBER.fullmatch(token)])
        series = series.mask(gone) if gone.any() else series
        if kind is None:
            return series
    read = column_from_objects(str(series.name), series.tolist(), kind, tokens)
    if kind is None and read.missing.sum() == series.isna().sum():
        return series
    values = [read.shown(value) for value in read.values]
    if kind == "categorical":
        values = [None if value is None else str(value) for value in values]
    return _series(values, series.index)


def _stripped(null_tokens: Iterable[str]) -> set[str]:
    given = [null_tokens] if isinstance(null_tokens, str) else null_tokens
    return {token.strip() for token in given}


def _series(values: list[Any], index: Any = None) -> Any:
    """As pandas infers it, except that whole numbers stay whole where some are null."""
    types = {type(value) for value in values}
    return _pandas().Series(values, index, dtype="Int64" if types == {int, type(None)} else None)


# -- explicit domains --------------------------------------------------------------------------


def _domain_table(
    file: _File, options: Mapping[str, Any], tokens: set[str], kinds: Mapping[str, str]
) -> DomainTable:
    lines = file.lines({**options, "skipinitialspace": True})
    if len(lines) == 1:
        raise file.empty()
    heads = [_head(text, number) for number, text in enumerate(lines.iloc[0].tolist(), start=1)]
    _check_names([column for column, _ in heads], kinds, file.name)
    frame, by_column, by_cell = {}, {}, {}
    for number, (column, domain) in enumerate(heads):
        lists = [
            _cell(text, tokens, f"row {row}, column {column!r}")
            for row, text in enumerate(lines[number].tolist()[1:])
        ]
        if not domain and not all(lists):
            raise _without_domain([row for row, one in enumerate(lists) if not one], column)
        meant = _meanings(chain(domain, *lists), column, kinds.get(column))
        if domain:
            by_column[column] = tuple(dict.fromkeys(meant[text] for text in domain))
        values = []
        for row, listed in enumerate(lists):
            own = tuple(dict.fromkeys(meant[text] for text in listed))
            if len(own) > 1:
                by_cell[row, column] = own
            candidates = own or by_column[column]
            values.append(candidates[0] if len(candidates) == 1 else None)
        frame[column] = _series(values)
    return DomainTable(_pandas().DataFrame(frame), Domains(len(lines) - 1, by_column, by_cell))


def _meanings(texts: Iterable[str], column: str, kind: str | None) -> dict[str, Any]:
    """What each text of a column stands for: a number if all are, or what the kind says."""
    found = list(dict.fromkeys(texts))
    numbers = all(_NUMBER.fullmatch(text) and math.isfinite(float(text)) for text in found)
    if kind == "categorical" or (kind is None and not numbers):
        return dict(zip(found, found, strict=True))
    if kind in (None, "numeric") and numbers:
        number: type = int if all(map(_WHOLE.fullmatch, found)) else float
        return {text: number(text) for text in found}
    read = column_from_objects(column, found, kind)
    return {text: read.shown(value) for text, value in zip(found, read.values, strict=True)}


def _without_domain(rows: list[int], column: str) -> TableError:
    return TableError(
        f"column {column!r} has no domain, but is empty in row {offenders(rows)}. List the values "
        f"in the header, as in {column}[1|2], or in the cell, as in [1|2]."
    )


def _head(text: str, number: int) -> tuple[str, tuple[str, ...]]:
    """A column's name, and its domain if one is listed."""
    marks = _MARK.findall(text)
    cut = marks.index("[") if "[" in marks else len(marks)
    name = _unescaped(marks[:cut])
    if not name:
        raise TableError(f"column {number} has no name; its header is {text!r}.")
    return name, _items(marks[cut:], f"the header of column {name!r}") if marks[cut:] else ()


def _cell(text: str, tokens: set[str], where: str) -> tuple[str, ...]:
    """The values a cell lists: none if it is empty, one if it is certain."""
    bare = text.strip()
    if not bare or bare in tokens:
        return ()
    if bare.startswith("["):
        return _items(_MARK.findall(text), where)
    return (_unescaped(_MARK.findall(text)) if "\\" in text else bare,)


def _items(marks: list[str], where: str) -> tuple[str, ...]:
    opening, *inner = _trimmed(marks)
    closing = inner.pop() if inner else ""
    lists: list[list[str]] = [[]]
    for mark in inner:
        lists.append([]) if mark == "|" else lists[-1].append(mark)
    items = tuple(map(_unescaped, lists))
    if (opening, closing) != ("[", "]") or {"[", "]"} & set(inner) or not all(items):
        raise TableError(
            f"{where}: values are listed as in [2|3], none of them empty; got {''.join(marks)!r}. "
            "Put a backslash before a bracket that belongs to the text."
        )
    return items


def _trimmed(marks: list[str]) -> list[str]:
    solid = [place for place, mark in enumerate(marks) if not mark.isspace()]
    return marks[solid[0] : solid[-1] + 1] if solid else []


def _unescaped(marks: list[str]) -> str:
    return "".join(mark[-1] for mark in _trimmed(marks))


def _list_text(values: Sequence[Any]) -> str:
    return f"[{'|'.join(map(_text, values))}]" if values else ""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    text = value.isoformat() if isinstance(value, date) else str(value)
    if not text:
        raise TableError("an empty text cannot be written: an empty cell takes a domain.")
    return _TO_ESCAPE.sub(r"\\\g<0>", text)


def _explicit(table: Any) -> DomainTable:
    """The cells of an IncompleteTable, each with its candidates; a domain where all share one."""
    if joint := [row for row, options in table.options.items() if options.joint]:
        raise TableError(
            f"the candidates of row {offenders(joint)} are whole versions of the row, but explicit "
            "domains list every cell on its own. Use repairs that propose values for a cell."
        )
    frame, by_column, by_cell = {}, {}, {}
    for number, column in enumerate(table.columns):
        values = [column.shown(value) for value in column.values]
        lists = {
            row: tuple(map(column.shown, options.values[options.cells.index(number)]))
            for row, options in table.options.items()
            if number in options.cells
        }
        if bare := sorted(set(np.flatnonzero(table.holes[:, number]).tolist()) - lists.keys()):
            raise _without_domain(bare, column.name)
        known = {*values, *chain(*lists.values())}
        if OTHER in known and "other" in known:
            raise TableError(
                f'column {column.name!r} holds the text "other", which could not be told from the '
                "candidate of that name. List the column's values in repairs."
            )
        for row, listed in lists.items():
            values[row] = listed[0] if len(listed) == 1 else None
        if len(set(lists.values())) == 1:
            by_column[column.name] = next(iter(lists.values()))
        else:
            by_cell.update({(row, column.name): listed for row, listed in lists.items()})
        frame[column.name] = values
    label = table.label or "label"
    if label in frame:
        raise TableError(f"a feature is called {label!r} too; give the label a name of its own.")
    data = _pandas().DataFrame({**frame, label: table.dataset.labels.tolist()}, dtype=object)
    return DomainTable(data, Domains(table.n_rows, by_column, by_cell))
