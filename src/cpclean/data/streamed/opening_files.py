"""Files that a person means, opened as one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpclean.data.streamed.addresses import find
from cpclean.data.streamed.csv_source import CsvSource
from cpclean.data.streamed.parquet_source import ParquetSource
from cpclean.data.streamed.pieces import TableSource
from cpclean.data.streamed.text_parts import TextLayout


def open_source(
    files: Any, label: str, kinds: Mapping[str, str], layout: TextLayout
) -> TableSource:
    """The table of some files, of which only the outline is read."""
    found = find(files)
    if found.format == "csv":
        return CsvSource.of(found, label, kinds, layout)
    return ParquetSource.of(found, label)
