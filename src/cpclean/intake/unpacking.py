"""How large files become when they are unpacked, found out before there is no memory left."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from io import BytesIO

# Bytes that are unpacked at a time.
_PIECE = 2**20
# The least that a cell takes once it is read: of a workbook, an object; of a frame, a number.
_OF_A_WORKBOOK = 64
_OF_A_FRAME = 8
# Bytes of sheets whose cells are counted.
_MOST_COUNTED = 2**30
# How the tag of a cell begins, also with a prefix.
_CELLS = [b"%cc%c" % (first, last) for first in b"<:" for last in b" \t\r\n/>"]


class TooLarge(Exception):
    """A file unpacks to more than was allowed."""


def unpacked(content: bytes, most: int | None = None) -> bytes:
    """A gzip file unpacked; `TooLarge` as soon as there are more than `most` bytes.

    Examples
    --------
    >>> unpacked(gzip.compress(b"age,buys"))
    b'age,buys'
    """
    if most is None:
        return gzip.decompress(content)
    pieces, size = [], 0
    with gzip.GzipFile(fileobj=BytesIO(content)) as file:
        while piece := file.read(_PIECE):
            size += len(piece)
            if size > most:
                raise TooLarge
            pieces.append(piece)
    return b"".join(pieces)


def declared_size(content: bytes, suffix: str) -> int:
    """How many bytes a workbook or a Parquet file has when it is unpacked, and at least its cells.

    A few bytes can stand for any number of equal cells, so that these count, too. Nothing more is
    read from the file later. 0 for other files, and for those that cannot be read: what is wrong
    with them is said when they are.
    """
    if suffix == ".xlsx":
        try:
            with zipfile.ZipFile(BytesIO(content)) as archive:
                parts = archive.infolist()
                size = sum(one.file_size for one in parts)
                sheets = [one for one in parts if "/worksheets/" in one.filename]
                # What is too large as it is need not be unpacked to be counted.
                within = sum(one.file_size for one in sheets) <= _MOST_COUNTED
                n_cells = sum(_cells(archive, one) for one in sheets) if within else 0
                return max(size, _OF_A_WORKBOOK * n_cells)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
            return 0
    if suffix == ".parquet":
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        try:
            outline = pq.read_metadata(BytesIO(content))
        except (pa.ArrowException, OSError):
            return 0
        groups = map(outline.row_group, range(outline.num_row_groups))
        n_values: int = outline.num_rows * outline.num_columns
        n_bytes: int = sum(one.total_byte_size for one in groups)
        return max(n_bytes, _OF_A_FRAME * n_values)
    return 0


def _cells(archive: zipfile.ZipFile, sheet: zipfile.ZipInfo) -> int:
    """How many cells a sheet of a workbook has."""
    found, before = 0, b""
    with archive.open(sheet) as file:
        while piece := file.read(_PIECE):
            whole = before + piece
            found += sum(map(whole.count, _CELLS))
            before = whole[-2:]  # all that can begin a tag, and none that was counted
    return found
