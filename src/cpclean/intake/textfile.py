"""Text files as they stand: known cells are written anew, every other byte stays.

Cells begin and end where pandas finds them: a quote counts only at the beginning of a cell, a
doubled quote within stands for itself, and lines with nothing but blanks are not rows.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.data.frames import pandas_module

_NAME = re.compile(r"(\.csv|\.tsv)(\.gz)?$", re.IGNORECASE)
# The marks with which some programs begin a file, and what is behind them.
_MARKS = {
    "utf-8": ((codecs.BOM_UTF8, "utf-8"),),
    "utf-8-sig": ((codecs.BOM_UTF8, "utf-8"),),
    "utf-16": ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")),
    "utf-32": ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be")),
}
_LOOKED_AT = 1000  # rows that show whether a column is in quotes


def text_suffix(file: str) -> str | None:
    """Whether a file is .csv or .tsv, packed or not, by its name; None if it is neither."""
    found = _NAME.search(file)
    return None if found is None else found[1].lower()


@dataclass(frozen=True)
class TextFile:
    r"""A CSV or TSV file, byte by byte.

    Parameters
    ----------
    content : bytes
        Unpacked, if the file is packed.
    sep : str
        What separates cells.
    encoding : str
    decimal : str
        What stands before decimals.
    suffix : {".csv", ".tsv"}

    Examples
    --------
    >>> file = TextFile(b'"age";"city"\r\n"";"Ulm"\r\n"65.0";"Bonn"\r\n', sep=";")
    >>> file.with_cells({(1, 0): "41"}).content
    b'"age";"city"\r\n"41";"Ulm"\r\n"65.0";"Bonn"\r\n'
    """

    content: bytes
    sep: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    suffix: str = ".csv"

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        sep: str | None = None,
        encoding: str = "utf-8",
        decimal: str = ".",
    ) -> TextFile | None:
        """A file that is text by its name; None for any other."""
        suffix = text_suffix(os.fspath(path))
        if suffix is None:
            return None
        place = Path(path).expanduser()
        content = place.read_bytes()
        content = gzip.decompress(content) if place.name.lower().endswith(".gz") else content
        return cls(content, sep or usual_sep(suffix), encoding, decimal, suffix)

    @cached_property
    def cells(self) -> Any:
        """Every cell as the file writes it, without quotes, the header on top; a pandas frame."""
        return (
            pandas_module()
            .read_csv(
                BytesIO(self.content), sep=self.sep, encoding=self.encoding, header=None,
                dtype=str, na_filter=False,
            )
            .fillna("")
        )  # fmt: skip

    @cached_property
    def line_numbers(self) -> list[int]:
        r"""The line on which each row begins, from 1; the header is row 0.

        >>> TextFile(b'age,note\n41,"two\nlines"\n\n65,none\n').line_numbers
        [1, 2, 5]
        """
        ends = [found.end() for found in re.finditer(r"\r\n|\r|\n", self._opened[2])]
        starts = [record.start() for record in self._records()]
        return (np.searchsorted(ends, starts, side="right") + 1).tolist()  # type: ignore[no-any-return]

    def with_cells(self, texts: Mapping[tuple[int, int], str]) -> TextFile | None:
        """The same with other texts in some cells; None if that cannot be done.

        That is so if pandas finds other cells in the file, before or afterwards, or if decoding and
        encoding change other bytes. If the encoding lacks letters of the texts, the file becomes
        UTF-8.

        Parameters
        ----------
        texts : dict from (row, column) to text
            The header is row 0.
        """
        rows: dict[int, dict[int, str]] = defaultdict(dict)
        for (row, column), text in texts.items():
            rows[row][column] = text
        mark, codec, whole = self._opened
        if mark + whole.encode(codec) != self.content:
            return None
        in_quotes = self._in_quotes({column for _, column in texts})
        out, at, row = [], 0, -1
        for row, record in enumerate(self._records()):
            if row in rows:
                cells = self._split(record[1])
                if not self._are(cells, row):
                    return None
                for column, text in rows[row].items():
                    cells += [""] * (column + 1 - len(cells))  # a line that ends early
                    quoted = in_quotes.get(column, cells[column].startswith('"'))
                    cells[column] = self._as_cell(text, quoted)
                out += [whole[at : record.start()], self.sep.join(cells)]
                at = record.end(1)
        if row + 1 != len(self.cells):
            return None
        text = "".join([*out, whole[at:]])
        try:
            made = replace(self, content=mark + text.encode(codec))
        except UnicodeEncodeError:
            made = replace(self, content=text.encode(), encoding="utf-8")
        return made if made._holds(self._expected(texts)) else None

    def for_suffix(self, suffix: str) -> TextFile:
        """The same as another kind of file, whose cells are separated otherwise."""
        if suffix == self.suffix:
            return self
        mark, codec, whole = self._opened
        other = replace(self, sep=usual_sep(suffix), suffix=suffix)
        out, at = [], 0
        for record in self._records():
            cells = [other._again(cell) for cell in self._split(record[1])]
            out += [_without_blanks(whole[at : record.start()]), other.sep.join(cells)]
            at = record.end(1)
        text = "".join([*out, _without_blanks(whole[at:])])
        made = replace(other, content=mark + text.encode(codec))
        expected = self._expected({})
        if made._holds(expected):
            return made
        # Empty lines that end with CR alone confuse pandas, depending on what is beside them.
        rows = (other.sep.join(other._as_cell(cell, True) for cell in row) for row in expected)
        text = "".join(f"{row}\n" for row in rows)
        return replace(other, content=mark + text.encode(codec))

    # -- where cells are -------------------------------------------------------------------

    @cached_property
    def _opened(self) -> tuple[bytes, str, str]:
        """The mark at the beginning, how the rest is encoded, and the rest."""
        name = codecs.lookup(self.encoding).name
        for mark, codec in _MARKS.get(name, ()):
            if self.content.startswith(mark):
                return mark, codec, self.content[len(mark) :].decode(codec)
        codec = "utf-8" if name == "utf-8-sig" else name
        return b"", codec, self.content.decode(codec)

    @cached_property
    def _cell(self) -> str:
        plain = rf"[^{re.escape(self.sep)}\r\n]*"
        return rf'(?:"[^"]*(?:""[^"]*)*"?{plain}|{plain})'

    def _records(self) -> Iterator[re.Match[str]]:
        """The rows as they are written; group 1 is without the line end."""
        sep = re.escape(self.sep)
        pattern = re.compile(rf"({self._cell}(?:{sep}{self._cell})*)(?:\r\n|\r|\n|\Z)")
        blanks = " \t".replace(self.sep, "")
        for match in pattern.finditer(self._opened[2]):
            if match[1].strip(blanks):
                yield match

    def _split(self, record: str) -> list[str]:
        """The cells of a row as they are written, in quotes where they are."""
        if '"' not in record:
            return record.split(self.sep)
        pattern, cells, at = re.compile(self._cell), [], 0
        while at <= len(record):
            match = pattern.match(record, at)
            assert match is not None, "a cell may be empty"
            cells.append(match[0])
            at = match.end() + len(self.sep)
        return cells

    def _are(self, cells: list[str], row: int) -> bool:
        """Whether pandas finds the same cells in a row."""
        if row >= len(self.cells):
            return False
        expected: list[str] = self.cells.iloc[row].tolist()
        absent = len(expected) - len(cells)
        return [*map(_bare, cells), *[""] * absent] == expected

    def _expected(self, texts: Mapping[tuple[int, int], str]) -> Any:
        """The cells as an array, with other texts in some of them."""
        cells = self.cells.to_numpy(dtype=object, copy=True)
        for place, text in texts.items():
            cells[place] = text
        return cells

    def _holds(self, expected: Any) -> bool:
        """Whether pandas finds these cells in the file."""
        try:
            return np.array_equal(self.cells.to_numpy(dtype=object), expected)
        except ValueError:  # rows of other lengths
            return False

    # -- quotes ----------------------------------------------------------------------------

    def _in_quotes(self, columns: set[int]) -> dict[int, bool]:
        """Whether the values of columns are mostly in quotes that they do not need."""
        seen: dict[int, list[bool]] = defaultdict(list)
        for row, record in enumerate(self._records()):
            if row > _LOOKED_AT:
                break
            cells = self._split(record[1]) if row else []
            for column in columns:
                text = _bare(cells[column]) if column < len(cells) else ""
                if text and not self._needs_quotes(text):
                    seen[column].append(cells[column].startswith('"'))
        return {column: 2 * sum(found) > len(found) for column, found in seen.items()}

    def _needs_quotes(self, text: str) -> bool:
        return any(sign in text for sign in (self.sep, '"', "\r", "\n"))

    def _as_cell(self, text: str, quoted: bool) -> str:
        if not quoted and not self._needs_quotes(text):
            return text
        doubled = text.replace('"', '""')
        return f'"{doubled}"'

    def _again(self, cell: str) -> str:
        """A cell of a file that is separated otherwise."""
        return self._as_cell(_bare(cell), cell.startswith('"'))


def usual_sep(suffix: str) -> str:
    """What separates cells by default."""
    return "\t" if suffix == ".tsv" else ","


def _without_blanks(between: str) -> str:
    """Line ends without what would be cells between other separators."""
    return between.replace(" ", "").replace("\t", "")


def _bare(cell: str) -> str:
    """What a cell says: without quotes around it, and single ones where they are doubled."""
    if not cell.startswith('"'):
        return cell
    match = re.match(r'"([^"]*(?:""[^"]*)*)"?', cell)
    assert match is not None, "it begins with a quote"
    return match[1].replace('""', '"') + cell[match.end() :]
