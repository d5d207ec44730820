r"""Explicit domains: CSV tables that list the candidates of cells, read and written.

* A header ``age[18|30|65]`` lists the domain of column ``age``; a cell ``[2|3]`` lists the cell's
  own candidates. An empty cell has the domain of its column. Any other cell has one value, which is
  certain.
* An empty cell of a column without a domain is null. This is fine for an unknown label; in a
  feature it is an error as soon as candidates are needed.
* A column is numeric if all of its values (cells, lists and domain) are numbers.
* Spaces around names, cells and listed values are ignored.
* A backslash before a ``|``, bracket, space or backslash makes it part of the text; before anything
  else it is an ordinary backslash. Commas, quotes and line breaks are quoted as usual in CSV.
  A name with brackets always needs backslashes, a cell only if it begins with a bracket.

>>> import io
>>> from cpclean import read_csv
>>> read = read_csv(io.StringIO("age[18|30|65],pets,y\n40,[2|3],no\n,0,yes\n"), domains=True)
>>> read.repairs.by_column, read.repairs.by_cell
({'age': (18, 30, 65)}, {(0, 'pets'): (2, 3)})
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import chain, repeat
from typing import Any

import numpy as np

from cpclean.data.coding import coded_by_identity
from cpclean.data.column_reading import column_from_objects
from cpclean.data.columns import OTHER, Column
from cpclean.data.frames import check_names, pandas_module, series_of
from cpclean.data.nulls import NUMBER, is_null
from cpclean.data.ragged import Ragged
from cpclean.data.row_options import Options, TableOptions
from cpclean.data.rows import Bools
from cpclean.errors import TableError, offenders

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_MARK = re.compile(r"\\[\\|\[\]\s]|.", re.DOTALL)  # one character, escaped or not
_TO_ESCAPE = re.compile(r"[\\|\[\]]|\A\s|\s\Z")


@dataclass(frozen=True)
class Domains:
    """A repair that proposes exactly what a file lists, in every combination within a row."""

    n_rows: int
    by_column: Mapping[str, tuple[Any, ...]]
    by_cell: Mapping[tuple[int, str], tuple[Any, ...]]  # (row, column) -> the cell's own candidates
    kept: tuple[int, ...] | None = None  # the rows of the file that a table has, if not all

    def propose(self, columns: Sequence[Column], holes: Bools) -> Mapping[int, Options]:
        """Options of every row with a hole; holes has shape (rows, columns)."""
        in_file = range(self.n_rows) if self.kept is None else self.kept
        _check_size(len(in_file), len(holes))
        lists, by_column = {}, []
        for number, column in enumerate(columns):
            rows = np.array(in_file, dtype=np.int64)[holes[:, number]].tolist()
            own = list(map(self.by_cell.get, zip(rows, repeat(column.name))))
            every = self.by_column.get(column.name, ())
            found, distinct = coded_by_identity([one or every for one in own])
            if bare := [row for row, one in zip(rows, found, strict=True) if not distinct[one]]:
                raise _without_domain(bare, column.name)
            lists[number] = found
            by_column.append(Ragged.of([_stored(one, column) for one in distinct]))
        return TableOptions.of_holes(holes, lists, by_column)

    def candidates_of(self, column: str) -> tuple[Any, ...]:
        """Every value that the file lists for a column, in its header or in a cell."""
        cells = (own for (_, name), own in self.by_cell.items() if name == column)
        return tuple(dict.fromkeys(chain(self.by_column.get(column, ()), *cells)))

    def of_rows(self, rows: Sequence[int], n_rows: int) -> Domains:
        """The same for some rows only, numbered from 0; n_rows is the size of the whole table."""
        _check_size(self.n_rows, n_rows)
        return replace(self, kept=tuple(rows))


def _stored(listed: tuple[Any, ...], column: Column) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(column.stored(value) for value in listed))


def _check_size(expected: int, n_rows: int) -> None:
    if n_rows != expected:
        raise TableError(
            f"these domains belong to a table of {expected} rows; got one of {n_rows}. "
            "Use the frame as it was read."
        )


@dataclass(frozen=True, eq=False)
class DomainTable:
    """A table with explicit domains, which `IncompleteTable` takes as it is.

    Attributes
    ----------
    frame : pandas.DataFrame
        Plain column names; null where a cell is uncertain or, without a domain, empty.
    repairs : Domains
        What these cells can be.

    Examples
    --------
    >>> import io
    >>> from cpclean import IncompleteTable, read_csv
    >>> text = "age[18|30|65],pets,y\\n40,[2|3],no\\n,0,yes\\n50,1,no\\n"
    >>> read = read_csv(io.StringIO(text), domains=True)
    >>> IncompleteTable(read, label="y").candidates(1)
    [{'age': 18}, {'age': 30}, {'age': 65}]
    """

    frame: Any
    repairs: Domains

    def __eq__(self, other: object) -> bool:
        """Whether frame and candidates are the same, kinds of numbers included."""
        if not isinstance(other, DomainTable):
            return NotImplemented
        return bool(self.frame.equals(other.frame)) and self.repairs == other.repairs

    __hash__ = None  # type: ignore[assignment]


def plain_frame(given: Any) -> Any:
    """The frame of a table with explicit domains; anything else as it is."""
    return given.frame if isinstance(given, DomainTable) else given


def write_domains(table: Any, path_or_buffer: Any) -> None:
    r"""Write a DomainTable, or an IncompleteTable, with explicit domains; .gz compresses.

    Reading it gives an equal table, except that a text column that looks like numbers has to be
    named in `kinds`, as have booleans (written 0 and 1), dates and durations (seconds). Of an
    IncompleteTable the label comes last, and the category "other" becomes a text.

    Examples
    --------
    >>> import io, sys
    >>> from cpclean import read_csv
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
            cells.append(_list_text(own) if is_null(value) else _text(value))
        listed[_text(str(name)) + _list_text(domain)] = cells
    # Python's csv may leave a lone carriage return unquoted, and readers take it for a line end.
    returns = any("\r" in text for text in chain(listed, *listed.values()))
    quoting = csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
    sep = "\t" if str(path_or_buffer).lower().endswith((".tsv", ".tsv.gz")) else ","
    try:
        pandas_module().DataFrame(listed).to_csv(
            path_or_buffer, index=False, sep=sep, quoting=quoting, lineterminator="\n"
        )
    except OSError as problem:
        raise TableError(f"cannot write {str(path_or_buffer)!r}: {problem}.") from problem


# -- reading and writing -----------------------------------------------------------------------


def domain_table(
    lines: Any, tokens: tuple[str, ...], kinds: Mapping[str, str], where: str
) -> DomainTable:
    """What the lines of a file mean, given as a pandas frame of text with the header on top."""
    heads = [_head(text, number) for number, text in enumerate(lines.iloc[0].tolist(), start=1)]
    check_names([column for column, _ in heads], kinds, where)
    frame, by_column, by_cell = {}, {}, {}
    for number, (column, domain) in enumerate(heads):
        lists = [
            _cell(text, tokens, f"row {row}, column {column!r}")
            for row, text in enumerate(lines[number].tolist()[1:])
        ]
        meant = _meanings(chain(domain, *lists), column, kinds.get(column))
        if domain:
            by_column[column] = tuple(dict.fromkeys(meant[text] for text in domain))
        values = []
        for row, listed in enumerate(lists):
            own = tuple(dict.fromkeys(meant[text] for text in listed))
            if len(own) > 1:
                by_cell[row, column] = own
            candidates = own or by_column.get(column, ())
            values.append(candidates[0] if len(candidates) == 1 else None)
        frame[column] = series_of(values)
    domains = Domains(len(lines) - 1, by_column, by_cell)
    return DomainTable(pandas_module().DataFrame(frame), domains)


def _meanings(texts: Iterable[str], column: str, kind: str | None) -> dict[str, Any]:
    """What each text of a column stands for: a number if all are, or what the kind says."""
    found = list(dict.fromkeys(texts))
    numbers = all(NUMBER.fullmatch(text) and math.isfinite(float(text)) for text in found)
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


def _cell(text: str, tokens: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The values that are listed in a cell: none if it is empty, one if it is certain."""
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
    if isinstance(value, timedelta):
        return repr(value.total_seconds())
    text = value.isoformat() if isinstance(value, date) else str(value)
    if not text:
        raise TableError("an empty text cannot be written: an empty cell takes a domain.")
    return _TO_ESCAPE.sub(r"\\\g<0>", text)


def _explicit(table: Any) -> DomainTable:
    """The cells of an IncompleteTable, each with its candidates; a domain where all share one."""
    options = table.options
    if joint := options.rows[options.joint].tolist():
        raise TableError(
            f"the candidates of row {offenders(joint)} are whole versions of the row, but explicit "
            "domains list every cell on its own. Use repairs that propose values for a cell."
        )
    frame, by_column, by_cell = {}, {}, {}
    for number, column in enumerate(table.columns):
        values = column.all_shown(column.values)
        shown = [tuple(map(column.shown, own.tolist())) for own in options.by_column[number]]
        rows = options.rows[options.owner[options.cells == number]].tolist()
        own = options.lists[options.cells == number].tolist()
        lists = {row: shown[place] for row, place in zip(rows, own, strict=True)}
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
    data = pandas_module().DataFrame({**frame, label: table.dataset.labels.tolist()}, dtype=object)
    return DomainTable(data, Domains(table.n_rows, by_column, by_cell))
