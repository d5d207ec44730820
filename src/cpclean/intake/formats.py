"""Frames as the bytes of a file: CSV, TSV, JSON, Parquet and Excel."""

from __future__ import annotations

import json
import math
from datetime import date
from io import BytesIO
from typing import Any

from cpclean.errors import TableError

SUFFIXES = (".csv", ".tsv", ".json", ".parquet", ".xlsx")


def table_bytes(frame: Any, suffix: str) -> bytes:
    """A pandas frame as a file; text is UTF-8.

    Parameters
    ----------
    suffix : {".csv", ".tsv", ".json", ".parquet", ".xlsx"}

    Examples
    --------
    >>> import pandas as pd
    >>> table_bytes(pd.DataFrame({"age": [41, None], "city": ["Ulm", "Bonn"]}), ".tsv")
    b'age\\tcity\\n41.0\\tUlm\\n\\tBonn\\n'
    """
    if suffix in (".csv", ".tsv"):
        text: str = frame.to_csv(index=False, sep="\t" if suffix == ".tsv" else ",")
        return text.encode()
    if suffix == ".json":
        return (json.dumps(records(frame), indent=2, ensure_ascii=False) + "\n").encode()
    into = BytesIO()
    try:
        if suffix == ".xlsx":
            _write_excel(frame, into)
        else:
            frame.to_parquet(into, index=False)
    except ImportError as problem:
        raise TableError(
            f'writing {suffix} files needs a package that is not installed: pip install "cpclean'
            '[files]".'
        ) from problem
    return into.getvalue()


def _write_excel(frame: Any, into: BytesIO) -> None:
    """Write a frame as a workbook in which texts are texts, also "=1+1" and "#N/A"."""
    import pandas as pd

    with pd.ExcelWriter(into, engine="openpyxl") as writer:
        frame.to_excel(writer, index=False)
        for sheet in writer.sheets.values():
            for row in sheet.iter_rows():
                for cell in row:
                    if cell.data_type in ("f", "e"):  # what looks like a formula or an error
                        cell.data_type, cell.quotePrefix = "s", True


def records(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame in values that JSON has: None where there is nothing."""
    columns = {str(name): frame[name].tolist() for name in frame.columns}
    rows = zip(*columns.values(), strict=True)
    return [{name: plain(value) for name, value in zip(columns, row, strict=True)} for row in rows]


def plain(value: Any) -> Any:
    """A value as JSON has it; dates as ISO 8601 writes them."""
    import numpy as np
    import pandas as pd

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, bool | int | float | str) else str(value)
