"""Files in: CSV, TSV, Parquet and Excel tables with nulls.

CSV and TSV tables may also list what a cell can be: see `cpclean.data.domains`.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from cpclean.data.column_reading import column_from_objects, rounds
from cpclean.data.domains import domain_table
from cpclean.data.frames import check_names, pandas_module, series_of
from cpclean.data.nulls import stripped, token_numbers
from cpclean.errors import TableError, TableWarning, offenders, warn_caller
from cpclean.intake.file_lines import FileLines
from cpclean.intake.notes import IntakeError
from cpclean.intake.odd_numbers import with_numbers
from cpclean.intake.sentences import parts, refusal
from cpclean.intake.textfile import TextFile

_FORMATS = {".parquet": "parquet", ".xlsx": "excel"}
_KINDS = {"csv": "a CSV", "parquet": "a Parquet", "excel": "an Excel"}
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
        Text that means a missing value, besides what pandas reads so; compared after stripping,
        numbers as numbers. A column that was text only because of tokens is numeric again.
    domains : bool
        Read explicit domains, as `cpclean.data.domains` describes them. Nothing but null_tokens
        and empty cells is empty then; "NA" is a text.
    kinds : dict from column name to kind, optional
        "numeric", "categorical", "boolean", "date" or "duration", where another is detected. A
        "categorical" column keeps its text, such as "007", and all digits of whole numbers beyond
        2**53, which pandas rounds beside empty cells.

        Columns of numbers in which a few cells are written as something else stay numbers: "45 mm"
        and "1,234" are read where that is safe, "unknown" and "<5" are null, and a warning names
        them. Columns whose kind is named are not looked at.
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
    sep = pandas_options.get("sep") or pandas_options.get("delimiter") or ","
    read = _separated(file, pandas_options, tokens, kinds or {}, domains)
    return read if domains else _numbered(read, kinds or {}, sep, file.lines_of(pandas_options))


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
    _check_suffix(suffix, repr(os.fspath(path)), domains)
    file = _file(_FORMATS[suffix], path)
    read = _plain(file, pandas_options, stripped(null_tokens), kinds or {})
    return _numbered(read, kinds or {}, ",", lambda n_rows: FileLines.of(None, n_rows, suffix))


def _numbered(
    frame: Any, kinds: Mapping[str, str], sep: str, lines_of: Callable[[int], FileLines]
) -> Any:
    """A frame with numbers where they are meant, and warnings about cells that are none."""
    made, notes = with_numbers(frame, kinds, (), sep)
    lines = lines_of(len(frame)) if notes else FileLines()
    for one in notes:
        what, way_out = parts(one, "python")
        way_out += lines.of_rows(one.rows)
        warn_caller(TableWarning(what, way_out, field="kinds", column=one.column))
    return made


def read_content(
    content: bytes,
    suffix: str,
    called: str,
    *,
    null_tokens: Iterable[str] = (),
    domains: bool = False,
    kinds: Mapping[str, str] | None = None,
    lenient: bool = False,
    hints: Mapping[str, Any] | None = None,
    **pandas_options: Any,
) -> Any:
    """The same of the bytes of a file.

    Parameters
    ----------
    content : bytes
        Unpacked, if the file is packed.
    suffix : one of `SUFFIXES`
    called : str
        What the file is called in messages.
    lenient : bool
        Whether kinds may name columns that the file does not have.
    hints : dict, optional
        What else a message may want to say, as `cpclean.intake.sentences` has it.
    """
    _check_suffix(suffix, called, domains)
    file = _File(_FORMATS.get(suffix, "csv"), called, partial(BytesIO, content), hints or {})
    tokens = stripped(null_tokens)
    if suffix.startswith(".tsv") and not pandas_options.keys() & {"sep", "delimiter"}:
        pandas_options["sep"] = "\t"
    if file.format == "csv":
        return _separated(file, pandas_options, tokens, kinds or {}, domains, lenient)
    return _plain(file, pandas_options, tokens, kinds or {}, lenient)


def _check_suffix(suffix: str, called: str, domains: bool) -> None:
    if not suffix or (domains and not suffix.startswith((".csv", ".tsv"))):
        usable = ".csv or .tsv file for domains=True" if suffix else f"{', '.join(SUFFIXES)} file"
        raise refusal("suffix", file=called, usable=usable)


def _separated(
    file: _File,
    options: dict[str, Any],
    tokens: tuple[str, ...],
    kinds: Mapping[str, str],
    domains: bool,
    lenient: bool = False,
) -> Any:
    """A text file: a frame, or a DomainTable."""
    if domains:
        if odd := sorted(options.keys() - _LAYOUT):
            raise TableError(f"domains=True reads the values itself; leave out {offenders(odd)}.")
        lines = file.lines({**options, "skipinitialspace": True})
        if len(lines) == 1:
            raise file.refusal("empty")
        return domain_table(lines, tokens, kinds, file.name)
    if not options.keys() & {"engine", "sep", "delimiter", "low_memory"}:
        options["low_memory"] = False  # one dtype a column, however late a token comes
    return _plain(file, options, tokens, kinds, lenient)


# -- any format: a frame with nulls ------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """A file of a format, under the name it has in messages; it can be opened more than once."""

    format: str
    name: str
    opened: Callable[[], Any]
    hints: Mapping[str, Any] = field(default_factory=dict)

    def read(self, options: Mapping[str, Any]) -> Any:
        pd = pandas_module()
        try:
            frame = getattr(pd, f"read_{self.format}")(self.opened(), **options)
        except pd.errors.EmptyDataError:
            raise self.refusal("empty") from None
        except _UNREADABLE as problem:
            raise self._unreadable(problem) from problem
        if not isinstance(frame, pd.DataFrame):
            raise self.refusal("chunks")
        if frame.empty:
            raise self.refusal("empty")
        return frame

    def lines(self, options: Mapping[str, Any]) -> Any:
        """Every line as text, the header too."""
        layout = {key: value for key, value in options.items() if key in _LAYOUT | {"nrows"}}
        return self.read({**layout, "header": None, "dtype": str, "na_filter": False})

    def lines_of(self, options: Mapping[str, Any]) -> Callable[[int], FileLines]:
        """On which lines so many rows begin; unknown if rows or lines of the file were skipped."""
        known = options.keys() <= {"sep", "delimiter", "encoding", "decimal", "low_memory", "dtype"}

        def found(n_rows: int) -> FileLines:
            given = self.opened()
            if not known or not isinstance(given, Path | BytesIO | StringIO):
                return FileLines()
            encoding = options.get("encoding") or "utf-8"
            sep = options.get("sep") or options.get("delimiter") or ","
            if isinstance(given, Path):
                text = TextFile.read(given, sep, encoding)
            else:
                content = given.getvalue()
                packed = content.encode(encoding) if isinstance(content, str) else content
                text = TextFile(packed, sep, encoding)
            return FileLines() if text is None else FileLines.of(text, n_rows)

        return found

    def refusal(self, code: str, **values: Any) -> IntakeError:
        """The error that says this of the file."""
        return refusal(code, **{"file": self.name, **self.hints, **values})

    def _unreadable(self, problem: Exception) -> IntakeError:
        reason = str(problem).strip()
        about = {"format": self.format, "kind": _KINDS[self.format], "reason": reason}
        if isinstance(problem, UnicodeError):
            return self.refusal("encoding", **about)
        if isinstance(problem, ImportError):
            return self.refusal("package")
        # The one thing that pandas says in words only.
        if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", reason):
            expected, line, seen = map(int, found.groups())
            return self.refusal("line_cells", **about, expected=expected, line=line, seen=seen)
        return self.refusal("unreadable", **about)


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
        raise refusal("no_file", file=name, folder=str(Path.cwd()))
    if path.is_dir():
        raise refusal("directory", file=name)
    file = _File(format, name, lambda: path)
    if path.is_file() and path.stat().st_size == 0:
        raise file.refusal("empty")
    return file


def _plain(
    file: _File,
    options: dict[str, Any],
    tokens: tuple[str, ...],
    kinds: Mapping[str, str],
    lenient: bool = False,
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
    header = _header(file, options, frame)
    if lenient:
        kinds = {name: kind for name, kind in kinds.items() if name in header}
    check_names(header, kinds, file.name)
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
        raise file.refusal("header_short")
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
    warn_caller(
        TableWarning(
            f"whole numbers beyond 2**53 are rounded in column {name!r}.",
            f'To keep all digits as text: kinds={{{name!r}: "categorical"}}.',
            field="kinds",
            column=name,
        ),
    )
