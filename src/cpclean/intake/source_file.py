"""A table file, opened once: its bytes, and all that is made of them."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from cpclean.intake.layout import Layout, layout_of, likely_separator, marked_encoding
from cpclean.intake.reading import SUFFIXES, read_content
from cpclean.intake.sentences import refusal
from cpclean.intake.textfile import TextFile, text_suffix, usual_sep
from cpclean.intake.unpacking import TooLarge, declared_size, unpacked

# Endings of files that have to be unpacked before they can be read here.
PACKED = (".bz2", ".xz", ".zst", ".zip", ".7z", ".tar", ".tgz", ".tar.gz")
# What separates cells where a comma does not, as it is typed in a shell.
_SIGNS = {";": "';'", "\t": "tab", "|": "'|'"}
_LONGEST_LINE = 2**16


@dataclass(frozen=True)
class SourceFile:
    """A file with a table, read from its place at most once, when it is first needed.

    Attributes
    ----------
    called : str
        Its name in messages.
    suffix : str
        One of `cpclean.intake.reading.SUFFIXES`, by its name; "" for any other.
    points : bool
        Whether it has rows to predict, rather than rows to learn from.
    most_unpacked : int or None
        Refuse the file if it is packed, and has more bytes than this when it is unpacked.

    Examples
    --------
    >>> source = SourceFile("'small.csv'", ".csv", lambda: b"age;buys\\n40;no\\n;yes\\n")
    >>> source.found_layout
    Layout(sep=';', encoding='utf-8', decimal='.')
    """

    called: str
    suffix: str
    fetched: Callable[[], bytes] = field(repr=False)
    points: bool = False
    most_unpacked: int | None = None

    @classmethod
    def at(
        cls,
        place: str,
        name: str | None = None,
        points: bool = False,
        most_unpacked: int | None = None,
    ) -> SourceFile:
        """The file at a path or an address; "-" is standard input.

        Parameters
        ----------
        place : str
        name : str, optional
            What people call it, if that is not its place.
        """
        if place == "-":
            return cls("standard input", ".csv", lambda: sys.stdin.buffer.read(), points)
        called = repr(place if name is None else name)
        suffix = next((one for one in SUFFIXES if place.lower().endswith(one)), "")
        if "://" in place:
            return cls(called, suffix, lambda: _from_address(place, called), points, most_unpacked)
        return cls(called, suffix, lambda: _from_disk(place, called), points, most_unpacked)

    @cached_property
    def content(self) -> bytes:
        """The bytes of the file."""
        if not self.suffix:
            usable = f"{', '.join(SUFFIXES)} file"
            if self.called.strip("'\"").lower().endswith(PACKED):
                raise refusal("packed", file=self.called)
            raise refusal("suffix", file=self.called, usable=usable)
        content, most = self.fetched(), self.most_unpacked
        if most is not None and declared_size(content, self.suffix) > most:
            raise self._bomb()
        return content

    def _bomb(self) -> Exception:
        limit = f"{(self.most_unpacked or 0) / 2**20:,.0f} MB"
        return refusal("bomb", file=self.called, limit=limit)

    @cached_property
    def plain(self) -> bytes:
        """The bytes of the file, unpacked if it is packed."""
        if not self.suffix.endswith(".gz"):
            return self.content
        try:
            return unpacked(self.content, self.most_unpacked)
        except TooLarge:
            raise self._bomb() from None
        except (OSError, EOFError, zlib.error) as problem:
            raise refusal(
                "unreadable", file=self.called, format="csv", kind="a CSV", reason=f"{problem}."
            ) from problem

    # -- as text -------------------------------------------------------------------------------

    @property
    def is_text(self) -> bool:
        """Whether it is CSV or TSV, by its name."""
        return self.suffix.startswith((".csv", ".tsv"))

    @cached_property
    def found_layout(self) -> Layout | None:
        """How a text file is written, found out by looking at it; None if it is not a text file."""
        if not self.is_text:
            return None
        found = layout_of(self.plain, _text_suffix(self.suffix))
        if found is None:
            raise refusal("not_text", file=self.called)
        return found

    def text(self, layout: Layout | None) -> TextFile | None:
        """The file byte by byte, so that cells can be written into it; None if it is not text."""
        if not self.is_text:
            return None
        suffix = _text_suffix(self.suffix)
        known = layout or Layout(usual_sep(suffix))
        return TextFile(self.plain, known.sep, known.encoding, known.decimal, suffix)

    # -- as a table ----------------------------------------------------------------------------

    def read(
        self,
        layout: Layout | None = None,
        *,
        null_tokens: Iterable[str] = (),
        kinds: Mapping[str, str] | None = None,
        domains: bool = False,
    ) -> Any:
        """A pandas frame, or a DomainTable if domains are to be read.

        Parameters
        ----------
        layout : Layout, optional
            How a text file is written; None: as its name says, in UTF-8.
        null_tokens, kinds, domains
            As in `read_csv`; of the kinds, a file of points takes those of columns that it has.
        """
        options: dict[str, Any] = {}
        if self.is_text and layout is not None:
            if layout.decimal != "." and domains:
                raise refusal("domains_decimal")
            options = layout.options(null_tokens)
        if domains:
            options.pop("low_memory", None)
        return read_content(
            self.plain,
            self.suffix,
            self.called,
            null_tokens=null_tokens,
            domains=domains,
            kinds=kinds,
            lenient=self.points,
            hints=self.hints(layout),
            **options,
        )

    def hints(self, layout: Layout | None) -> Mapping[str, Any]:
        """What may be worth saying if the file cannot be read so."""
        found: dict[str, Any] = {"points": self.points}
        if self.is_text:
            found["encoding"] = "utf-8" if layout is None else layout.encoding
            found["likely"] = marked_encoding(self.plain) or "latin-1"
            found["separator"] = self._separator_hint(layout)
        return found

    def _separator_hint(self, layout: Layout | None) -> str:
        usual = usual_sep(_text_suffix(self.suffix))
        if layout is not None and layout.sep != usual:
            return ""  # it was named
        line = self.plain[:_LONGEST_LINE].splitlines()[:1] or [b""]
        header = line[0].decode("utf-8" if layout is None else layout.encoding, "replace")
        sign = likely_separator(header)
        if header.count(sign) <= header.count(usual):
            return ""
        comma = ", and perhaps --decimal ," if sign == ";" else ""
        return f"If another sign separates its cells, name it: --sep {_SIGNS[sign]}{comma}."

    @cached_property
    def whole_columns(self) -> dict[str, str] | None:
        """Dtypes of the columns of whole numbers, if the file says which they are; None if not."""
        if self.suffix != ".parquet":
            return None
        from io import BytesIO

        import pyarrow.parquet as pq  # type: ignore[import-untyped]
        import pyarrow.types as kinds  # type: ignore[import-untyped]

        return {
            one.name: f"{'U' if kinds.is_unsigned_integer(one.type) else ''}Int{one.type.bit_width}"
            for one in pq.read_schema(BytesIO(self.content))
            if kinds.is_integer(one.type)
        }


def _text_suffix(suffix: str) -> str:
    return text_suffix(suffix) or ".csv"


def _from_disk(place: str, called: str) -> bytes:
    path = Path(place).expanduser()
    if path.is_dir():
        raise refusal("directory", file=called)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise refusal("no_file", file=called, folder=os.getcwd()) from None
    if not content:
        raise refusal("empty", file=called)
    return content


def _from_address(place: str, called: str) -> bytes:
    """What is at an address: Python knows a few kinds of them, fsspec many."""
    from urllib.error import URLError
    from urllib.request import urlopen

    try:
        if place.lower().startswith(("http:", "https:", "ftp:", "file:")):
            with urlopen(place) as opened:
                return bytes(opened.read())
        import fsspec

        with fsspec.open(place, "rb") as opened:
            return bytes(opened.read())
    except ImportError as problem:
        raise refusal("package", file=called) from problem
    except (OSError, URLError, ValueError) as problem:
        raise refusal("no_address", file=called, reason=str(problem)) from problem
