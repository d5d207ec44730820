"""What a table consists of: to save it, or to make one that differs in some part."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import Column
from cpclean.data.completions import ListedValues
from cpclean.data.frames import FrameKind
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.row_counts import RowCounts
from cpclean.data.row_options import TableOptions
from cpclean.data.rows import Bools
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.table_space import TableSpace


@dataclass(frozen=True, eq=False)
class TableParts:
    """Everything that an `IncompleteTable` consists of."""

    null_tokens: tuple[str, ...]
    label: str | None  # the name of the label column, if there is one
    frame_kind: FrameKind
    rows_kept: npt.NDArray[np.int64]
    columns: tuple[Column, ...]
    holes: Bools  # (n_rows, n_columns)
    options: TableOptions
    space: TableSpace
    dataset: IncompleteDataset
    column_values: ListedValues = field(default_factory=dict)
    leaves: LeafSpace | None = None
    # Of all rows, if these stand for more than are at hand.
    all_rows: RowCounts | None = None
