"""Parquet files as one table, read row group by row group."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cpclean.data.streamed.addresses import FoundFiles
from cpclean.data.streamed.folder_columns import check_twice, folder_columns
from cpclean.data.streamed.pieces import (
    FileMark,
    Piece,
    SourceMark,
    check_distinct,
    check_same,
    gone,
    unlike,
)
from cpclean.errors import TableError

_DAMAGED = "The file may be damaged; get it anew, or leave it out."
# Row groups of fewer rows are put together into pieces of about so many.
_PIECE_ROWS = 1 << 18


@dataclass(frozen=True)
class ParquetSource:
    """Parquet files with the same columns; see `cpclean.data.streamed.pieces.TableSource`.

    Attributes
    ----------
    folders : tuple of dict
        For each file, the columns that its folders stand for, as in ``year=2024``.
    """

    filesystem: Any
    files: tuple[str, ...]
    names: tuple[str, ...]
    texts: frozenset[str]
    pieces: tuple[Piece, ...]
    mark: SourceMark
    address: str
    folders: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, found: FoundFiles, label: str | None) -> ParquetSource:
        """The table of some files."""
        import pyarrow.types as kinds  # type: ignore[import-untyped, unused-ignore]

        folders = folder_columns(found)
        first, marks, pieces, start = None, [], [], 0
        for number, path in enumerate(found.paths):
            mark, schema = _outline(found.filesystem, path)
            check_distinct(schema.names, path)
            if first is None:
                first = schema
            elif _told(schema) != _told(first):
                raise _difference(found.paths[0], first, path, schema, label)
            marks.append(mark)
            for parts, rows in _grouped(mark.rows):
                pieces.append(Piece(number, parts, start, rows))
                start += rows
        assert first is not None
        check_twice(folders, first.names)
        texts = {
            field.name
            for field in first
            if kinds.is_string(field.type) or kinds.is_large_string(field.type)
        }
        return cls(
            filesystem=found.filesystem,
            address=found.address,
            files=found.paths,
            names=(*first.names, *folders[0]),
            texts=frozenset(texts),
            pieces=tuple(pieces),
            mark=SourceMark(tuple(marks), _told(first)),
            folders=tuple(folders),
        )

    def frames(self, piece: Piece, names: Sequence[str], size: int) -> Iterator[Any]:
        """As in `TableSource`."""
        import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]

        path, folders = self.files[piece.file], self.folders[piece.file]
        inside = [name for name in names if name not in folders]
        with self.opened(piece.file) as file:
            for group in piece.parts:
                batches = file.iter_batches(size, [group], inside, use_threads=False)
                while True:
                    try:
                        batch = next(batches, None)
                    except (OSError, pa.ArrowException) as problem:
                        raise _damaged(path, group, problem) from problem
                    if batch is None:
                        break
                    yield _with_folders(batch, folders, names)

    def opened(self, file: int) -> Any:
        """A file of pyarrow, if it is still the one that was read."""
        self.check_file(file)
        return _opened(self.filesystem, self.files[file])

    def check_file(self, file: int) -> None:
        """As in `TableSource`."""
        mark, _ = _outline(self.filesystem, self.files[file])
        check_same(self.mark.files[file], mark)

    def row_group(self, opened: Any, file: int, group: int) -> Any:
        """All columns of a row group."""
        import pyarrow as pa

        try:
            return opened.read_row_group(group, use_threads=False)
        except (OSError, pa.ArrowException) as problem:
            raise _damaged(self.files[file], group, problem) from problem

    def current_mark(self) -> SourceMark:
        """As in `TableSource`."""
        found = [_outline(self.filesystem, path) for path in self.files]
        return SourceMark(tuple(mark for mark, _ in found), _told(found[0][1]))


def _reason(problem: Exception) -> str:
    return " ".join(str(problem).split()).rstrip(".")


def _damaged(path: str, group: int, problem: Exception) -> TableError:
    return TableError(
        f"row group {group} of file {path!r} cannot be read: {_reason(problem)}.", _DAMAGED
    )


def _opened(filesystem: Any, path: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq  # type: ignore[import-untyped, unused-ignore]

    try:
        return pq.ParquetFile(
            filesystem.open_input_file(path), pre_buffer=False, page_checksum_verification=True
        )
    except FileNotFoundError:
        raise gone(path) from None
    except (OSError, pa.ArrowException) as problem:
        if filesystem.get_file_info(path).size == 0:
            raise TableError(
                f"file {path!r} is empty: it has 0 bytes. Leave it out, or write it anew."
            ) from problem
        raise TableError(
            f"file {path!r} cannot be read as Parquet: {_reason(problem)}.",
            _DAMAGED,
        ) from problem


def _outline(filesystem: Any, path: str) -> tuple[FileMark, Any]:
    """What a file is known by, and its columns; neither takes a look at the rows."""
    with _opened(filesystem, path) as file:
        about = file.metadata
        rows = tuple(about.row_group(one).num_rows for one in range(about.num_row_groups))
        size = int(filesystem.get_file_info(path).size)
        with filesystem.open_input_file(path) as raw:  # where columns are, and their statistics
            raw.seek(max(0, size - about.serialized_size - 8))
            checksum = zlib.crc32(raw.read())
        return FileMark(path, size, rows, checksum), _columns(file.schema_arrow)


def _columns(schema: Any) -> Any:
    """The columns of a file without the index of a pandas frame, which is none of its columns."""
    import pyarrow as pa

    about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = {one for one in about.get("index_columns", ()) if isinstance(one, str)}
    kept = [field for field in schema if field.name not in index]
    return pa.schema(kept)


def _grouped(rows: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Row groups that are read together, and how many rows they have."""
    parts: list[int] = []
    total = 0
    for group, size in enumerate(rows):
        if parts and total + size > _PIECE_ROWS:
            yield tuple(parts), total
            parts, total = [], 0
        parts.append(group)
        total += size
    if total:
        yield tuple(parts), total


def _with_folders(batch: Any, folders: dict[str, Any], names: Sequence[str]) -> Any:
    import pyarrow as pa

    table = pa.Table.from_batches([batch])
    for name, value in folders.items():
        if name in names:
            one = pa.array([value]).dictionary_encode()
            places = pa.nulls(len(batch), pa.int32()).fill_null(0)
            same = pa.DictionaryArray.from_arrays(places, one.dictionary)
            table = table.append_column(name, same)
    return table.select(list(names))


def _told(schema: Any) -> str:
    return "; ".join(f"{field.name}: {field.type}" for field in schema)


def _difference(one: str, mine: Any, two: str, theirs: Any, label: str | None) -> TableError:
    """What is different about two files that should have the same columns."""
    kinds = [
        f"column {name!r} is {mine.field(name).type} in {one!r} and {theirs.field(name).type} in "
        f"{two!r}"
        for name in mine.names
        if name in theirs.names and mine.field(name).type != theirs.field(name).type
    ]
    return unlike(one, mine.names, two, theirs.names, label, kinds)
