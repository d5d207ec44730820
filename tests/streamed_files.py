"""Mixed tables with holes and ties, written as files in several ways."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cpclean import StreamedTable
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.streamed.row_recipe import SomeRows

FEATURES = ["grade", "size", "city", "since", "member"]


def mixed_frame(seed: int, n_rows: int = 120, holes: float = 0.12) -> pd.DataFrame:
    """Columns of every kind, coarse so that many rows tie; the last one is the label."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "grade": rng.integers(0, 4, n_rows).astype(float),
            "size": rng.normal(size=n_rows).round(1) * 10.0 ** rng.integers(-3, 4),
            "city": rng.choice(["Ulm", "Bonn", "Kiel", "Jena", "Hof", "Trier", "Köln"], n_rows),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, n_rows), "D"),
            "member": rng.random(n_rows) < 0.4,
        }
    )
    frame = frame.mask(rng.random(frame.shape) < holes)
    frame["member"] = frame["member"].astype("boolean")
    frame["y"] = rng.choice(["no", "perhaps", "yes"], n_rows, p=[0.5, 0.2, 0.3])
    return frame[frame[FEATURES].notna().any(axis=1)].reset_index(drop=True)


def as_arrow(frame: pd.DataFrame) -> Any:
    return pa.Table.from_pandas(frame, preserve_index=False)


def write_parquet(
    frame: pd.DataFrame, folder: Path, n_files: int = 2, group: int = 17
) -> list[str]:
    """The rows in several files, in order, with row groups of so many rows."""
    table, paths = as_arrow(frame), []
    ends = np.linspace(0, len(frame), n_files + 1).astype(int)
    for number, (start, end) in enumerate(pairwise(ends.tolist())):
        paths.append(str(folder / f"part-{number}.parquet"))
        pq.write_table(table.slice(start, end - start), paths[-1], row_group_size=group)
    return paths


def whole(table: StreamedTable) -> IncompleteDataset:
    """All rows of a table of files as one dataset, put together from batches."""
    parts = [rows for piece in table.pieces for rows in table.recipe.rows(piece)]
    return table.recipe.dataset(SomeRows.joined(parts))
