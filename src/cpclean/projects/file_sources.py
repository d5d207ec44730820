"""The files of a table in plain values and back: where they are, and what they are known by.

None of their rows is read when a project is opened. Whoever reads a file compares it with what it
was when the project was begun.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from cpclean.data.streamed.addresses import filesystem_at
from cpclean.data.streamed.csv_source import CsvSource
from cpclean.data.streamed.parquet_source import ParquetSource
from cpclean.data.streamed.pieces import FileMark, Piece, SourceMark, TableSource
from cpclean.data.streamed.row_batches import BatchReader
from cpclean.data.streamed.table_files import TableFiles
from cpclean.data.streamed.text_parts import TextLayout
from cpclean.projects.plain_values import packed, unpacked

_DTYPES: Mapping[str, Any] = {
    "text": str,
    "int": np.int64,
    "uint": np.uint64,
    "float": np.float64,
}
_NAMES = {one: name for name, one in _DTYPES.items()}


def pack_files(files: TableFiles) -> dict[str, Any]:
    """What a project has about the files of its table."""
    reader, source = files.reader, files.source
    assert isinstance(source, CsvSource | ParquetSource)
    plain: dict[str, Any] = {
        "address": source.address,
        "files": list(source.files),
        "columns": list(source.names),
        "texts": sorted(source.texts),
        "pieces": [list(asdict(one).values()) for one in source.pieces],
        "marks": [list(asdict(one).values()) for one in source.mark.files],
        "schema": source.mark.schema,
        "names": list(reader.names),
        "label": reader.label,
        "kinds": dict(reader.kinds),
        "null_tokens": list(reader.null_tokens),
        "drop_unlabelled": reader.drop_unlabelled,
        "drop_empty": reader.drop_empty,
    }
    where = "the names of the folders"
    plain["folders"] = [
        {name: packed(value, where) for name, value in one.items()} for one in source.folders
    ]
    if isinstance(source, ParquetSource):
        return plain
    return {
        **plain,
        "headers": [base64.b64encode(one).decode() for one in source.headers],
        "parts": [list(one) for one in source.parts],
        "dtypes": {name: _NAMES[one] for name, one in source.dtypes.items()},
        "layout": asdict(source.layout),
        "sums": [list(one) for one in source.sums],
    }


def unpack_files(stored: Mapping[str, Any]) -> TableFiles:
    """The files that were packed, as they were; see `TableFiles.check`."""
    reader = BatchReader(
        _source(stored),
        tuple(stored["names"]),
        stored["label"],
        stored["kinds"],
        tuple(stored["null_tokens"]),
        stored["drop_unlabelled"],
        stored["drop_empty"],
    )
    return TableFiles(reader)


def _source(stored: Mapping[str, Any]) -> TableSource:
    marks = tuple(
        FileMark(name, size, tuple(rows), checksum)
        for name, size, rows, checksum in stored["marks"]
    )
    common: dict[str, Any] = {
        "filesystem": filesystem_at(stored["address"]),
        "address": stored["address"],
        "files": tuple(stored["files"]),
        "names": tuple(stored["columns"]),
        "texts": frozenset(stored["texts"]),
        "pieces": tuple(
            Piece(file, tuple(parts), first, n_rows)
            for file, parts, first, n_rows in stored["pieces"]
        ),
        "mark": SourceMark(marks, stored["schema"]),
    }
    folders = tuple(
        {name: unpacked(value) for name, value in one.items()} for one in stored["folders"]
    )
    if "headers" not in stored:
        return ParquetSource(**common, folders=folders)
    layout = stored["layout"]
    return CsvSource(
        **common,
        folders=folders,
        headers=tuple(map(base64.b64decode, stored["headers"])),
        parts=tuple(map(tuple, stored["parts"])),
        dtypes={name: _DTYPES[one] for name, one in stored["dtypes"].items()},
        layout=TextLayout(**{**layout, "nulls": tuple(layout["nulls"])}),
        sums=tuple(map(tuple, stored["sums"])),
    )
