"""Small tables for HoloClean's model, and the model and cells of a table written as lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpclean.data.column_reading import column_from_objects
from cpclean.data.columns import Column
from cpclean.data.holoclean.cell_values import HoloCells, holo_cells
from cpclean.data.holoclean.holo_model import CellDomains, HoloModel, HoloSettings, fit_model

# Rows (A, B): x p, x p, x q, y q, y q, and a hole of A beside p.
SMALL = {"A": ["x", "x", "x", "y", "y", None], "B": ["p", "p", "q", "q", "q", "p"]}
X, Y = 0, 1  # codes of A: the more frequent first


def columns_of(table: dict[str, list[Any]]) -> list[Column]:
    return [column_from_objects(name, values) for name, values in table.items()]


def model_of(table: dict[str, list[Any]], **options: Any) -> HoloModel:
    columns = columns_of(table)
    trusted = ~np.column_stack([column.missing for column in columns])
    return fit_model(columns, trusted, HoloSettings(**options))


def codes_of(model: HoloModel) -> Any:
    return np.column_stack([one.codes for one in model.attributes])


def cells_of(table: dict[str, list[Any]], **options: Any) -> HoloCells:
    columns = columns_of(table)
    holes = np.column_stack([column.missing for column in columns])
    return holo_cells(columns, holes, HoloSettings(**options))


def as_lists(domains: CellDomains) -> list[list[int]]:
    return [part.tolist() for part in np.split(domains.values, domains.starts[1:-1])]
