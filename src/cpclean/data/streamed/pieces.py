"""Files that are one table: its rows in pieces, each of which is read on its own."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cpclean.errors import TableError, offenders


@dataclass(frozen=True)
class Piece:
    """Rows of one file that are read together.

    Attributes
    ----------
    file : int
        The number of the file.
    parts : tuple of int
        Which row groups of a Parquet file, or which part of a text file.
    first, n_rows : int
        The number of the first row in the table, and how many rows there are.
    """

    file: int
    parts: tuple[int, ...]
    first: int
    n_rows: int


@dataclass(frozen=True)
class FileMark:
    """What a file is known by: its name, size, rows per part, and a checksum of its outline."""

    name: str
    size: int
    rows: tuple[int, ...]
    checksum: int


@dataclass(frozen=True)
class SourceMark:
    """What the files of a table are known by; another table has another mark."""

    files: tuple[FileMark, ...]
    schema: str

    @property
    def digest(self) -> str:
        """A short text that changes with the files."""
        told = repr((self.schema, [(one.size, one.rows, one.checksum) for one in self.files]))
        return f"{zlib.crc32(told.encode()):08x}"

    def check(self, now: SourceMark) -> None:
        """Refuse files that are not those of this mark any more."""
        if self.digest == now.digest:
            return
        for old, new in zip(self.files, now.files, strict=False):
            check_same(old, new)
        if len(self.files) != len(now.files):
            raise TableError(
                f"the table had {len(self.files)} files, and now there are {len(now.files)}. "
                + _WAY_OUT
            )
        raise TableError(f"the files have other columns than before. {_WAY_OUT}")


_WAY_OUT = "Put the files back as they were, or begin anew with the new ones."


def gone(path: str) -> TableError:
    """What to say about a file that was there when the table was made."""
    return TableError(
        f"file {path!r} is not there any more.",
        "Put it back. Workers of a cluster need the files at the same addresses.",
    )


def check_same(old: FileMark, new: FileMark) -> None:
    """Refuse a file that has changed."""
    if (old.size, old.rows, old.checksum) == (new.size, new.rows, new.checksum):
        return
    if sum(old.rows) != sum(new.rows):
        what = f"it had {sum(old.rows):,} rows, and now it has {sum(new.rows):,}"
    elif old.size != new.size:
        what = f"it had {old.size:,} bytes, and now it has {new.size:,}"
    else:
        what = "its content is another one"
    raise TableError(f"file {new.name!r} has changed since the table was read: {what}. {_WAY_OUT}")


def check_distinct(names: Sequence[str], path: str) -> None:
    """Refuse a file in which several columns have one name."""
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise TableError(
            f"column names must be distinct; more than one column of {path!r} is called "
            f"{offenders(map(repr, twice))}. Rename them in the file.",
            column=twice[0],
        )


def unlike(
    one: str,
    mine: Sequence[str],
    two: str,
    theirs: Sequence[str],
    label: str | None,
    kinds: Sequence[str] = (),
) -> TableError:
    """What is different about two files, of these columns, that should have the same ones.

    kinds says in words which columns that both have are of another kind.
    """
    lacking = [name for name in mine if name not in theirs]
    extra = [name for name in theirs if name not in mine]
    if label is not None and label in (*lacking, *extra):
        without = two if label in lacking else one
        return TableError(
            f"the label column {label!r} is missing in file {without!r}.", column=label
        )
    told = []
    if lacking:
        told.append(f"{two!r} lacks column {offenders(map(repr, lacking))}")
    if extra:
        told.append(f"{two!r} has column {offenders(map(repr, extra))}, which {one!r} lacks")
    told += kinds or ([] if told else [f"{one!r} and {two!r} have them in another order"])
    return TableError(
        f"all files must have the same columns; {offenders(told)}.",
        "Write the files that differ anew, with the same columns in the same order and of the same "
        "types, or leave them out.",
    )


class TableSource(Protocol):
    """Files of any format as one table.

    Attributes
    ----------
    files : tuple of str
        Their addresses, in the order of the rows.
    names : tuple of str
        All columns.
    texts : frozenset of str
        The columns that hold text.
    pieces : tuple of Piece
    mark : SourceMark
    """

    @property
    def files(self) -> tuple[str, ...]: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def texts(self) -> frozenset[str]: ...
    @property
    def pieces(self) -> tuple[Piece, ...]: ...
    @property
    def mark(self) -> SourceMark: ...

    def frames(self, piece: Piece, names: Sequence[str], size: int) -> Iterator[Any]:
        """The rows of a piece in order, as frames of at most `size` rows with these columns."""
        ...

    def current_mark(self) -> SourceMark:
        """The mark of the files as they are now."""
        ...

    def check_file(self, file: int) -> None:
        """Refuse a file that has changed since the table was made."""
        ...


def n_rows(source: TableSource) -> int:
    """The number of rows of all files."""
    return sum(piece.n_rows for piece in source.pieces)
