"""How a text file is written: what separates its cells, its encoding, its decimal sign."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from typing import Any

from cpclean.intake.textfile import usual_sep

# What separates cells, and what people call it.
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_BEGINNINGS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_WITH_COMMA = re.compile(r"\s*[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?\s*")
_WITH_POINT = re.compile(r"\s*[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(\.[0-9]+)?\s*")
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SAMPLE = 2**18  # bytes that are looked at for separators
_SAMPLE_ROWS = 1000
_PIECE = 2**20


@dataclass(frozen=True)
class Layout:
    """How a text file is written.

    Examples
    --------
    >>> Layout(";", "cp1252", ",").options(null_tokens=["?"])
    {'sep': ';', 'encoding': 'cp1252', 'decimal': ',', 'na_values': ['?'], 'low_memory': False}
    """

    sep: str = ","
    encoding: str = "utf-8"
    decimal: str = "."

    def options(self, null_tokens: Iterable[str] = ()) -> dict[str, Any]:
        """Options for `read_csv`, where a file is not as usual."""
        return reading_options(self.sep, self.encoding, self.decimal, null_tokens)


def reading_options(
    sep: str | None, encoding: str, decimal: str, null_tokens: Iterable[str]
) -> dict[str, Any]:
    """Options for `read_csv`, where a file is not as usual; None: its usual separator."""
    options: dict[str, Any] = {}
    if sep is not None:
        options["sep"] = sep
    if encoding != "utf-8":
        options["encoding"] = encoding
    if decimal != ".":
        options["decimal"] = decimal
        options["na_values"] = list(null_tokens)  # so that what is left is read as numbers
    if options:
        options["low_memory"] = False  # one dtype a column, however late another value comes
    return options


def layout_of(content: bytes, suffix: str) -> Layout | None:
    """How a text file is written, found out by looking at it; None if its bytes are not text.

    The encoding is UTF-8 if all of the file can be read as such, UTF-16 if it begins with its mark,
    else Windows' cp1252, or latin-1 if it has bytes that cp1252 does not have. The separator is the
    one that divides the first rows into as many cells as the header has names.

    Parameters
    ----------
    content : bytes
        Unpacked, if the file is packed.
    suffix : {".csv", ".tsv"}
    """
    sample, encoding = content[:_SAMPLE], _encoding(content)
    if encoding != "utf-16" and (
        b"\0" in sample or (encoding != "utf-8" and _CONTROLS.search(sample))
    ):
        return None
    rows = {sep: _rows(sample, encoding, sep) for sep in SEPARATORS}
    sep = _separator(rows, usual_sep(suffix))
    return Layout(sep, encoding, _decimal(rows[sep], sep))


def marked_encoding(content: bytes) -> str | None:
    """The encoding of which a file has the mark at its beginning; None if it has none."""
    return _BEGINNINGS.get(content[:2])


def likely_separator(header: str) -> str:
    """What divides a line most often, if the comma does not."""
    return max((sign for sign in SEPARATORS if sign != ","), key=header.count)


def _encoding(content: bytes) -> str:
    if marked := marked_encoding(content):
        return marked
    return next((name for name in ("utf-8", "cp1252") if _decodes(content, name)), "latin-1")


def _decodes(content: bytes, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for start in range(0, len(content), _PIECE):
            decoder.decode(content[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _rows(sample: bytes, encoding: str, sep: str) -> list[list[str]]:
    """The first rows, if that is the separator."""
    text = sample.decode(encoding, "replace").removeprefix("\ufeff")
    if len(sample) == _SAMPLE:  # the last line goes on
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text
    found: list[list[str]] = []
    try:
        for row in csv.reader(StringIO(text, newline=""), delimiter=sep):
            if any(cell.strip() for cell in row) or len(row) > 1:
                found.append(row)
            if len(found) > _SAMPLE_ROWS:
                break
    except csv.Error:  # a cell without an end
        pass
    return found


def _separator(rows: dict[str, list[list[str]]], usual: str) -> str:
    def quality(sep: str) -> tuple[float, int, bool]:
        header, *rest = rows[sep] or [[]]
        if len(header) < 2:
            return (-1.0, 0, sep == usual)
        alike = sum(len(row) == len(header) for row in rest) / len(rest) if rest else 1.0
        # All rows as wide as the header: the usual one is it, however many cells others make.
        return (alike, 2**30 if alike == 1 and sep == usual else len(header), sep == usual)

    return max(SEPARATORS, key=quality)


def _decimal(rows: list[list[str]], sep: str) -> str:
    cells = [cell for row in rows[1:] for cell in row]
    commas = [cell for cell in cells if _WITH_COMMA.fullmatch(cell)]
    points = sum(_WITH_POINT.fullmatch(cell) is not None for cell in cells)
    if any(one.count(",") > 1 or "." in one for one in cells if _THOUSANDS.fullmatch(one)):
        return "."  # 1,234,567 or 1,234.5
    if sep == "," and all(_THOUSANDS.fullmatch(one) for one in commas):
        return "."
    return "," if len(commas) > points else "."
