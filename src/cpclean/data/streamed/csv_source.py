"""CSV and TSV files as one table, read in parts of some megabytes.

A part begins and ends between two records: at a line break with an even number of quotes before it.
Which columns hold numbers, truths or text depends on all parts, as if the files were read at once.
"""

from __future__ import annotations

import io
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.data.frames import pandas_module
from cpclean.data.streamed.addresses import FoundFiles
from cpclean.data.streamed.folder_columns import check_twice, folder_columns
from cpclean.data.streamed.pieces import FileMark, Piece, SourceMark, check_same, gone, unlike
from cpclean.data.streamed.text_parts import TextLayout, split
from cpclean.errors import TableError

# Blocks of a file that its checksum is of, and their size.
_BLOCKS, _BLOCK = 64, 1 << 12


@dataclass(frozen=True)
class CsvSource:
    """Text files with the same columns; see `cpclean.data.streamed.pieces.TableSource`.

    Attributes
    ----------
    headers : tuple of bytes
        The first line of each file.
    parts : tuple of tuples of int
        Where the parts of each file begin, and where the last one ends.
    dtypes : dict from column to dtype
        As what pandas reads each column.
    layout : TextLayout
    folders : tuple of dict
        For each file, the columns that its folders stand for.
    sums : tuple of tuples of int
        A checksum of each part of each file.
    """

    filesystem: Any
    files: tuple[str, ...]
    names: tuple[str, ...]
    texts: frozenset[str]
    pieces: tuple[Piece, ...]
    mark: SourceMark
    address: str
    headers: tuple[bytes, ...]
    parts: tuple[tuple[int, ...], ...]
    dtypes: Mapping[str, Any]
    layout: TextLayout
    folders: tuple[dict[str, Any], ...]
    sums: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls, found: FoundFiles, label: str, kinds: Mapping[str, str], layout: TextLayout
    ) -> CsvSource:
        """The table of some files, each of which is read once."""
        names: list[str] = []
        headers, all_parts, all_sums, pieces, marks, start = [], [], [], [], [], 0
        folders = folder_columns(found)
        chosen = {name: str for name, kind in kinds.items() if kind == "categorical"}
        kinds_of: dict[str, set[str]] = {}
        for number, path in enumerate(found.paths):
            header, parts = split(found.filesystem, path, layout.sep_of(path))
            own = layout.names(header, path)
            if number == 0:
                names = own
            elif own != names:
                raise unlike(found.paths[0], names, path, own, label)
            sizes, sums = [], []
            for at in range(len(parts) - 1):
                content = _read(found.filesystem, path, parts[at], parts[at + 1])
                frame = _parsed(header + content, path, start, {**chosen}, layout)
                for name in names if len(frame) else ():
                    kinds_of.setdefault(name, set()).add(_kind(frame[name]))
                sizes.append(len(frame))
                sums.append(zlib.crc32(content))
                if len(frame):
                    pieces.append(Piece(number, (at,), start, len(frame)))
                start += len(frame)
            headers.append(header)
            all_parts.append(tuple(parts))
            all_sums.append(tuple(sums))
            marks.append(_mark(found.filesystem, path, tuple(sizes)))
        check_twice(folders, names)
        dtypes: dict[str, Any] = {name: _dtype(kinds_of.get(name, set())) for name in names}
        dtypes = {name: one for name, one in {**dtypes, **chosen}.items() if one is not None}
        return cls(
            filesystem=found.filesystem,
            address=found.address,
            files=found.paths,
            names=(*names, *folders[0]),
            texts=frozenset(name for name, one in dtypes.items() if one is str),
            pieces=tuple(pieces),
            mark=SourceMark(tuple(marks), repr(names)),
            headers=tuple(headers),
            parts=tuple(all_parts),
            dtypes=dtypes,
            layout=layout,
            folders=tuple(folders),
            sums=tuple(all_sums),
        )

    def frames(self, piece: Piece, names: Sequence[str], size: int) -> Iterator[Any]:
        """As in `TableSource`."""
        path = self.files[piece.file]
        old = self.mark.files[piece.file]
        self.check_file(piece.file)
        frame = _parsed(self.content(piece), path, piece.first, self.dtypes, self.layout)
        if len(frame) != piece.n_rows:
            check_same(old, FileMark(path, old.size, (len(frame),), old.checksum))
        frame = frame.assign(**self.folders[piece.file])[list(names)]
        for at in range(0, len(frame), size):
            yield frame.iloc[at : at + size]

    def check_file(self, file: int) -> None:
        """As in `TableSource`."""
        old = self.mark.files[file]
        check_same(old, _mark(self.filesystem, self.files[file], old.rows))

    def content(self, piece: Piece) -> bytes:
        """The bytes of a piece, with the header of its file in front."""
        return self.part(piece.file, *piece.parts)

    def part(self, file: int, part: int) -> bytes:
        """The bytes of a part of a file, as they were read first, with the header in front."""
        begin, end = self.parts[file][part : part + 2]
        content = _read(self.filesystem, self.files[file], begin, end)
        if zlib.crc32(content) != self.sums[file][part]:
            old = self.mark.files[file]
            check_same(old, replace(old, checksum=~old.checksum))
        return self.headers[file] + content

    def current_mark(self) -> SourceMark:
        """As in `TableSource`."""
        marks = [_mark(self.filesystem, old.name, old.rows) for old in self.mark.files]
        return SourceMark(tuple(marks), self.mark.schema)


def _read(filesystem: Any, path: str, begin: int, end: int) -> bytes:
    try:
        with filesystem.open_input_file(path) as file:
            file.seek(begin)
            return bytes(file.read(end - begin))
    except FileNotFoundError:
        raise gone(path) from None


def _parsed(
    content: bytes, path: str, first: int, dtypes: Mapping[str, Any], layout: TextLayout
) -> Any:
    pd = pandas_module()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                io.BytesIO(content),
                dtype=dict(dtypes),
                index_col=False,
                low_memory=False,
                **layout.options(path),
            )
    except UnicodeDecodeError as problem:
        raise layout.undecodable(path, problem) from problem
    except pd.errors.ParserWarning as problem:
        raise TableError(
            f"file {path!r} cannot be read as CSV: in the rows from row {first:,} of the table on, "
            "there are more cells than the header has names.",
            "Name every column, put cells with commas into quotes, or name the separator: sep=';'.",
            field="sep",
        ) from problem
    except ValueError as problem:
        raise TableError(
            f"file {path!r} cannot be read as CSV, in the rows from row {first:,} of the table on: "
            f"{str(problem).strip().rstrip('.')}. Lines are counted from there.",
            "Mend them: put cells with commas or line breaks into quotes, and close all quotes.",
        ) from problem


def _kind(series: Any) -> str:
    """What a part of a column looks like by itself."""
    if series.isna().all():
        return "nothing"
    holes = "+" if series.isna().any() else ""
    kind = series.dtype.kind
    if kind == "O" and all(isinstance(one, bool) for one in series.dropna().tolist()):
        return "b"
    return f"{kind if kind in 'biuf' else 'O'}{holes if kind in 'iu' else ''}"


def _dtype(kinds: set[str]) -> Any:
    """What a whole column is, if its parts are so; None: as pandas finds it."""
    some = kinds - {"nothing"}
    if "O" in some or ("b" in some and len(some) > 1):
        return str
    if some in ({"i"}, {"u"}, {"u", "i"}) and "nothing" not in kinds:
        return np.int64 if some == {"i"} else np.uint64 if some == {"u"} else np.float64
    return None if some == {"b"} else np.float64


def _mark(filesystem: Any, path: str, rows: tuple[int, ...]) -> FileMark:
    size = filesystem.get_file_info(path).size
    if size is None:
        raise gone(path)
    checksum = 0
    with filesystem.open_input_file(path) as file:
        for at in np.unique(np.linspace(0, max(0, size - _BLOCK), _BLOCKS).astype(int)).tolist():
            file.seek(at)
            checksum = zlib.crc32(file.read(_BLOCK), checksum)
    return FileMark(path, int(size), rows, checksum)
