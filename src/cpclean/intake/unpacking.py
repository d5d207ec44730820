"""How large files become when they are unpacked, found out before there is no memory left."""

from __future__ import annotations

import gzip
import zipfile
from io import BytesIO

# Bytes that are unpacked at a time.
_PIECE = 2**20


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
    """How many bytes a workbook or a Parquet file has when it is unpacked, as it says itself.

    Nothing more than that is read from it later. 0 for other files, and for those that cannot be
    read: what is wrong with them is said when they are.
    """
    if suffix == ".xlsx":
        try:
            with zipfile.ZipFile(BytesIO(content)) as archive:
                return sum(one.file_size for one in archive.infolist())
        except zipfile.BadZipFile:
            return 0
    if suffix == ".parquet":
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        try:
            outline = pq.read_metadata(BytesIO(content))
        except (pa.ArrowException, OSError):
            return 0
        return sum(outline.row_group(one).total_byte_size for one in range(outline.num_row_groups))
    return 0
