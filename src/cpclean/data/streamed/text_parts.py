"""Text files in parts that begin and end between two records, and how their text is written."""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.data.rows import Bools, Ints
from cpclean.data.streamed.pieces import check_distinct
from cpclean.errors import TableError

PART_BYTES = 1 << 23
_QUOTE, _BREAK, _RETURN = ord('"'), ord("\n"), ord("\r")
_NOTHING = -1  # before the first byte of a file
_SEPARATORS = (";", "\t", "|")
# What files that are no text in single bytes begin with.
_OTHERS = {
    b"\x1f\x8b": "packed with gzip: unpack it first.",
    b"PK": "a zip archive or a workbook: unpack or convert it first.",
    b"\xff\xfe": "in UTF-16: convert it to UTF-8 first.",
    b"\xfe\xff": "in UTF-16: convert it to UTF-8 first.",
}


@dataclass(frozen=True)
class TextLayout:
    """How text files are written.

    Attributes
    ----------
    sep : str or None
        What separates cells; None: a comma, or a tab in .tsv files.
    encoding : str
        Line ends, quotes and digits are single bytes in it.
    decimal : str
        What stands before decimals.
    nulls : tuple of str
        Texts for nothing that are left out before numbers are read, where their decimal sign is not
        the point.
    """

    sep: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    nulls: tuple[str, ...] = ()

    @classmethod
    def checked(
        cls, sep: Any, encoding: Any, decimal: Any, null_tokens: tuple[str, ...]
    ) -> TextLayout:
        """The layout that a person names."""
        if sep is not None and (not isinstance(sep, str) or len(sep) != 1 or sep in "\"'\r\n"):
            raise TableError(
                f"sep must be a single character that separates cells, such as ';'; got {sep!r}.",
                field="sep",
            )
        if decimal not in (".", ","):
            raise TableError(f"decimal must be '.' or ','; got {decimal!r}.", field="decimal")
        try:
            name = codecs.lookup(encoding).name
        except (LookupError, TypeError):
            raise TableError(
                f"encoding must be one that Python knows, such as 'cp1252'; got {encoding!r}.",
                field="encoding",
            ) from None
        name = "utf-8" if name == "utf-8-sig" else name
        if '"\n0'.encode(name) != b'"\n0':
            raise TableError(
                f"several files cannot be read in parts in the encoding {encoding!r}, which has no "
                "single byte for the end of a line.",
                "Convert them to UTF-8.",
                field="encoding",
            )
        return cls(sep, name, decimal, () if decimal == "." else null_tokens)

    def sep_of(self, path: str) -> str:
        """What separates the cells of a file."""
        return self.sep or ("\t" if path.lower().endswith(".tsv") else ",")

    def options(self, path: str) -> dict[str, Any]:
        """Options of pandas for a file."""
        found: dict[str, Any] = {"sep": self.sep_of(path), "encoding": self.encoding}
        if self.decimal != ".":
            found |= {"decimal": self.decimal, "na_values": list(self.nulls)}
        return found

    def names(self, header: bytes, path: str) -> list[str]:
        """The columns by the first line of a file, as pandas calls them."""
        try:
            text = header.decode("utf-8-sig" if self.encoding == "utf-8" else self.encoding)
        except UnicodeDecodeError as problem:
            raise self.undecodable(path, problem) from None
        try:
            found = next(csv.reader(io.StringIO(text), delimiter=self.sep_of(path)), [])
        except csv.Error:
            raise TableError(
                f"the lines of file {path!r} end with carriage returns alone, or its first line "
                "has one. Save it with line feeds."
            ) from None
        if not found:
            raise TableError(
                f"the first line of file {path!r} is empty; it should name the columns.",
                "Take it out of the file.",
            )
        names = [name or f"Unnamed: {place}" for place, name in enumerate(found)]
        check_distinct(names, path)
        likely = max(_SEPARATORS, key=text.count)
        if len(names) == 1 and likely in text:
            raise TableError(
                f"file {path!r} has a single column, {names[0]!r}.",
                f"If its cells are separated by {likely!r}, say so: sep={likely!r}.",
                field="sep",
            )
        return names

    def undecodable(self, path: str, problem: UnicodeDecodeError) -> TableError:
        """What to say about bytes that are no letters."""
        for start, what in _OTHERS.items():
            if problem.object.startswith(start):
                return TableError(f"file {path!r} is {what}")
        return TableError(
            f"file {path!r} is not in {self.encoding}: {problem.reason} "
            f"(byte 0x{problem.object[problem.start]:02x}).",
            "Save it as UTF-8, or name its encoding, such as encoding='cp1252'.",
            field="encoding",
        )


def split(filesystem: Any, path: str, sep: str) -> tuple[bytes, list[int]]:
    """The first line of a file, and where its parts begin; the last one is where they end."""
    if not (filesystem.get_file_info(path).size or 0):
        raise TableError(f"file {path!r} is empty: it has 0 bytes. Leave it out, or write it anew.")
    cuts: list[int] = []
    at, header, state = 0, b"", _Quotes(ord(sep))
    with filesystem.open_input_stream(path) as stream:
        while block := stream.read(PART_BYTES):
            marks = np.frombuffer(block, dtype=np.uint8)
            (ends,) = np.nonzero((marks == _BREAK) & ~state.inside(marks))
            if not cuts and len(ends):
                header = header + block[: int(ends[0]) + 1]
                cuts.append(at + int(ends[0]) + 1)
            elif not cuts:
                header += block
            if len(ends) and at + int(ends[-1]) + 1 > cuts[-1]:
                cuts.append(at + int(ends[-1]) + 1)
            at += len(block)
    if not cuts:  # a header and nothing else
        return header + b"\n", [at]
    if cuts[-1] < at:
        cuts.append(at)
    return header, cuts


class _Quotes:
    """Which bytes of a file are in quotes, block by block.

    A quote counts at the beginning of a cell only, as for pandas: 5" is a text like any other.
    """

    def __init__(self, sep: int) -> None:
        self._starts = (sep, _BREAK, _RETURN, _NOTHING)
        self._open = False
        self._last, self._closed = _NOTHING, False  # the last byte; whether it ended a quotation

    def inside(self, marks: Any) -> Bools:
        """Whether each byte of the next block is in quotes; a quote that closes them is not."""
        (places,) = np.nonzero(marks == _QUOTE)
        before = np.where(places > 0, marks[places - 1].astype(np.int64), self._last)
        # Each opens or closes, one by one: right if all that open stand where they may.
        opens = (np.arange(len(places)) + self._open) % 2 == 0
        again = before == _QUOTE  # a doubled quote: the quotation goes on
        if len(places) and places[0] == 0 and self._last == _QUOTE:
            again[0] = self._closed
        if not (np.isin(before, self._starts) | again)[opens].all():
            places, opens = self._one_by_one(places, before)
        change = np.zeros(len(marks), dtype=np.int64)
        change[places] = np.where(opens, 1, -1)
        found = (np.cumsum(change) + self._open) > 0
        self._open = bool(found[-1])
        self._last = int(marks[-1])
        self._closed = bool(len(places) and places[-1] == len(marks) - 1 and not opens[-1])
        return found

    def _one_by_one(self, places: Ints, before: Ints) -> tuple[Ints, Bools]:
        """The quotes that open or close, where some do neither; and which of them open."""
        found, opens, is_open = [], [], self._open
        closed = -1 if self._closed else -2  # where the last quotation ended
        for place, byte in zip(places.tolist(), before.tolist(), strict=True):
            if is_open:
                closed = place
            elif byte not in self._starts and closed != place - 1:
                continue
            is_open = not is_open
            found.append(place)
            opens.append(is_open)
        return np.array(found, dtype=np.int64), np.array(opens, dtype=bool)
