"""The cleaned files of a large table: written file by file, part by part, known cells changed.

A Parquet file keeps its schema, row groups and compression, a text file every other byte. Files
without a known cell are copied as they are. What is written stands under another name until it is
complete, so that a full disk or Ctrl-C leaves no half of a file; the original files are only read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from cpclean.data.columns import Column
from cpclean.data.streamed.csv_source import CsvSource
from cpclean.data.streamed.parquet_source import ParquetSource
from cpclean.data.streamed.pieces import Piece, TableSource
from cpclean.data.streamed.table_files import TableFiles
from cpclean.data.values import is_mark
from cpclean.errors import CPCleanError, TableError
from cpclean.intake.textfile import TextFile
from cpclean.intake.writing import KnownCells, text_with
from cpclean.progress_bar import Shown, progress_bar

_COPIED = 1 << 22


def write_files(
    files: TableFiles,
    columns: Sequence[Column],
    known: Mapping[int, Mapping[str, Any]],
    folder: str | os.PathLike[str],
    progress: Shown = None,
    *,
    over: bool = False,
) -> list[Path]:
    """Write the files of a table anew, with known cells in place of what stands there.

    Parameters
    ----------
    files : TableFiles
    columns : sequence of Column
        Those of the table; they say what whole columns are, whichever rows they have.
    known : dict from row to dict from column to value
        Rows are numbered as in the table of all files; values are as a person knows them.
    folder : path
        Where the files are written, with the names that they have. It must not be where they are.
    progress : bool, or function of words and a share, optional
    over : bool
        Whether files that are there already, such as those of an earlier time, are replaced.

    Returns
    -------
    list of Path
        The files, in the order of the table.
    """
    files.check()
    targets = _targets(files, Path(folder).expanduser(), over)
    cells = KnownOfFiles.of(files, columns, known)
    with progress_bar(len(targets), "writing files", shown=progress) as follow:
        for number, target in enumerate(targets):
            write_file(cells, number, target)
            follow(number + 1)
    return targets


@dataclass(frozen=True)
class KnownOfFiles:
    """What is known about the rows of files.

    Attributes
    ----------
    files : TableFiles
    columns : dict from name to Column
    cells : dict from file number to dict from Piece to KnownCells
        By places in the piece; for files in which a cell is known.
    """

    files: TableFiles
    columns: Mapping[str, Column]
    cells: Mapping[int, Mapping[Piece, KnownCells]]

    @classmethod
    def of(
        cls,
        files: TableFiles,
        columns: Sequence[Column],
        known: Mapping[int, Mapping[str, Any]],
    ) -> KnownOfFiles:
        """As `write_files` takes it."""
        found: dict[int, dict[Piece, KnownCells]] = {}
        for piece in files.source.pieces:
            found.setdefault(piece.file, {})[piece] = _known_of(known, piece)
        changed = {file: own for file, own in found.items() if any(own.values())}
        return cls(files, {one.name: one for one in columns}, changed)


class _Sent:
    """What an archive has written since it was last taken away."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    def write(self, block: bytes) -> int:
        self._blocks.append(bytes(block))
        return len(block)

    def flush(self) -> None:
        """Nothing is held back."""

    def take(self) -> bytes:
        found, self._blocks = b"".join(self._blocks), []
        return found


def zipped(known: KnownOfFiles) -> Iterator[bytes]:
    """The files anew as a .zip archive, in blocks; one of them at a time is on the disk."""
    sent = _Sent()
    with TemporaryDirectory() as folder, ZipFile(cast("IO[bytes]", sent), "w") as archive:
        for number, name in enumerate(known.files.short_names):
            made = Path(folder) / "made"
            write_file(known, number, made)
            head = ZipInfo(Path(name).as_posix(), time.localtime()[:6])
            # The pages of a Parquet file are compressed already.
            parquet = isinstance(known.files.source, ParquetSource)
            head.compress_type = ZIP_STORED if parquet else ZIP_DEFLATED
            with made.open("rb") as content, archive.open(head, "w", force_zip64=True) as into:
                while block := content.read(_COPIED):
                    into.write(block)
                    yield sent.take()
            made.unlink()
    yield sent.take()


def _targets(files: TableFiles, folder: Path, over: bool) -> list[Path]:
    if folder.exists() and not folder.is_dir():
        raise TableError(f"the cleaned files need a folder; {str(folder)!r} is a file.")
    targets = [folder / name for name in files.short_names]
    # By whatever name, also that of a link: what is read must not be written to.
    originals = {Path(file).resolve() for file in files.source.files}
    if any(one.resolve() in originals for one in targets):
        raise TableError(
            f"the cleaned files must be in another folder than the original ones; {str(folder)!r} "
            "is where they are."
        )
    there = [one for one in targets if one.exists() and not over]
    if there:
        raise TableError(
            f"file {str(there[0])!r} is there already. Name a new folder, or remove it first."
        )
    return targets


def _known_of(known: Mapping[int, Mapping[str, Any]], piece: Piece) -> KnownCells:
    """The known cells of a piece, by column and by place in the piece."""
    found: KnownCells = {}
    for row, values in known.items():
        if piece.first <= row < piece.first + piece.n_rows:
            for name, value in values.items():
                if not is_mark(value):  # "other" stands for no value that could be written
                    found.setdefault(name, {})[row - piece.first] = value
    return found


def write_file(known: KnownOfFiles, number: int, target: Path) -> None:
    """Write one of the files anew, whole or not at all."""
    source, cells = known.files.source, known.cells.get(number)
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if cells is None:
            _copied(source, number, part)
        elif isinstance(source, ParquetSource):
            _parquet(known.columns, source, number, cells, part)
        else:
            assert isinstance(source, CsvSource)
            _text(known, source, number, cells, part)
        os.replace(part, target)
    except OSError as problem:
        raise CPCleanError(
            f"file {str(target)!r} could not be written: {problem.strerror or problem}. The "
            "original files are as they were, and files that were complete before stay."
        ) from problem
    finally:
        part.unlink(missing_ok=True)


def _copied(source: TableSource, number: int, part: Path) -> None:
    assert isinstance(source, ParquetSource | CsvSource)
    with source.filesystem.open_input_stream(source.files[number]) as old, part.open("wb") as new:
        while block := old.read(_COPIED):
            new.write(block)


# -- Parquet ---------------------------------------------------------------------------------------


def _parquet(
    columns: Mapping[str, Column],
    source: ParquetSource,
    number: int,
    cells: Mapping[Piece, KnownCells],
    part: Path,
) -> None:
    import pyarrow.parquet as pq  # type: ignore[import-untyped, unused-ignore]

    with source.opened(number) as file:
        about = file.metadata
        first_group = map(about.row_group(0).column, range(about.num_columns))
        packed = {one.path_in_schema: one.compression for one in first_group}
        with pq.ParquetWriter(str(part), file.schema_arrow, compression=packed) as writer:
            for piece, own in cells.items():
                first = 0
                for group in piece.parts:
                    rows = source.row_group(file, number, group)
                    inside = {
                        name: {
                            place - first: columns[name].stored(value)
                            for place, value in values.items()
                            if first <= place < first + len(rows)
                        }
                        for name, values in own.items()
                    }
                    for name, values in inside.items():
                        if values:
                            rows = _changed(rows, name, values, columns[name], piece.first + first)
                    writer.write_table(rows, row_group_size=max(1, len(rows)))
                    first += len(rows)


def _check_inside(name: str, inside: bool) -> None:
    if not inside:
        raise TableError(
            f"column {name!r} is in the names of the folders, and cannot be written for one row.",
            column=name,
        )


def _changed(rows: Any, name: str, values: Mapping[int, Any], column: Any, start: int) -> Any:
    """A table with other values in some cells of a column, of the same type."""
    import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
    import pyarrow.compute as pc  # type: ignore[import-untyped, unused-ignore]

    _check_inside(name, name in rows.column_names)
    number = rows.column_names.index(name)
    field, old = rows.schema.field(number), rows.column(number)
    plain = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    new = []
    for place, stored in values.items():
        try:
            new.append(_as_type(column.shown(stored), plain))
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as problem:
            raise TableError(
                f"the value {column.shown(stored)!r} of row {start + place}, column {name!r}, does "
                f"not fit into a column of type {plain}: {problem}. Undo this answer, or convert "
                "the column in the files.",
                column=name,
                rows=[start + place],
            ) from problem
    mask = np.zeros(len(rows), dtype=bool)
    order = sorted(range(len(new)), key=list(values).__getitem__)
    mask[list(values)] = True
    whole = pa.concat_arrays(old.cast(plain).chunks) if old.num_chunks else pa.array([], plain)
    made = pc.replace_with_mask(whole, mask, pa.array([new[one] for one in order], plain))
    if pa.types.is_dictionary(field.type):
        made = made.dictionary_encode().cast(field.type)
    return rows.set_column(number, field, made)


def _as_type(value: Any, kind: Any) -> Any:
    """A value as a column of a type takes it."""
    import pyarrow as pa

    if pa.types.is_integer(kind) and isinstance(value, float):
        if not value.is_integer():
            raise ValueError("it is no whole number")
        value = int(value)
    if pa.types.is_boolean(kind) and not isinstance(value, bool):
        value = bool(value)
    if pa.types.is_date(kind) and isinstance(value, datetime):
        value = value.date()
    if pa.types.is_decimal(kind):
        from decimal import Decimal

        value = Decimal(str(value))
    pa.scalar(value, kind)
    return value


# -- text ------------------------------------------------------------------------------------------


def _text(
    known: KnownOfFiles,
    source: CsvSource,
    number: int,
    cells: Mapping[Piece, KnownCells],
    part: Path,
) -> None:
    with part.open("wb") as new:
        new.write(source.headers[number])
        for content in _parts_of_text(known, source, number, cells):
            new.write(content)


def _parts_of_text(
    known: KnownOfFiles, source: CsvSource, number: int, cells: Mapping[Piece, KnownCells]
) -> Iterator[bytes]:
    by_part = {piece.parts[0]: piece for piece in cells}
    header = source.headers[number]
    for at in range(len(source.parts[number]) - 1):
        piece = by_part.get(at)
        content = source.part(number, at)
        own = {} if piece is None else cells[piece]
        if piece is None or not own:
            yield content[len(header) :]
            continue
        (rows,) = known.files.reader.batches(piece, piece.n_rows)
        columns = [replace(known.columns[one.name], values=one.values) for one in rows.columns]
        path, layout, folders = source.files[number], source.layout, source.folders[number]
        for name in own:
            _check_inside(name, name not in folders)
        inside = [name for name in source.names if name not in folders]
        (frame,) = source.frames(piece, inside, piece.n_rows)
        suffix = ".tsv" if path.lower().endswith(".tsv") else ".csv"
        text = TextFile(content, layout.sep_of(path), layout.encoding, layout.decimal, suffix)
        made = text_with(text, frame, columns, (rows.rows - piece.first).tolist(), own)
        about = f"in the rows from row {piece.first:,} of the table on"
        if made is None:
            raise TableError(
                f"known cells cannot be written into file {path!r}: its cells are not where they "
                f"are expected, {about}."
            )
        if made.encoding != layout.encoding:
            raise TableError(
                f"known cells cannot be written into file {path!r}: {layout.encoding} lacks "
                f"letters of a value {about}. Convert the files to UTF-8."
            )
        yield made.content[len(header) :]
