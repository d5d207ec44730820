"""The experiment spaces that the paper's authors published, through one loader.

A space is a folder with `X_train_dirty.csv`, `X_train_clean.csv`, `y_train.csv`, the same for `val`
and `test`, and `X_train_repairs/*.csv`: every file there is one version of the training table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import ABSENT, Column
from cpclean.data.frames import columns_from
from cpclean.data.reading import read_csv
from cpclean.data.repairs import Versions
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.errors import DataError

Labels = npt.NDArray[Any]


@dataclass(frozen=True)
class Space:
    """A training table with candidates, and complete validation and test points.

    Attributes
    ----------
    table : IncompleteTable
        Row i's candidates are row i of every version, distinct ones only; numbers equal to 12
        decimals count as equal. Numbers are scaled by the dirty table; categories are one-hot.
    X_val, X_test : ndarray
        Encoded points; y_val and y_test are their labels.
    clean : ndarray of shape (n_rows, n_features)
        The true training rows, encoded.
    truth : ndarray of int
        The number of each row's candidate that is nearest to the true row.
    default : ndarray of shape (n_rows, n_features)
        The training rows as cleaned by default (`mean.csv`), encoded.
    """

    name: str
    table: IncompleteTable
    X_val: Floats
    y_val: Labels
    X_test: Floats
    y_test: Labels
    clean: Floats
    truth: npt.NDArray[np.int64]
    default: Floats

    def closest_world(self) -> Floats:
        """The training rows of the closest-candidate world."""
        rows = range(self.table.n_rows)
        return np.stack([self.table.dataset.candidate(row, int(self.truth[row])) for row in rows])


def load_space(folder: str | Path, prior: Any = "uniform", n_val: int | None = 1000) -> Space:
    """Load a published space.

    Parameters
    ----------
    folder : path
        Such as `spaces/Supreme/systematic`.
    prior : as in `IncompleteTable`
        The paper's is uniform over a row's distinct candidates.
    n_val : int, optional
        How many of the validation points to take, from the first; all if None.
    """
    place = Path(folder)
    if not (place / "X_train_repairs").is_dir():
        raise DataError(
            f"{place} is not a space: it has no folder X_train_repairs. Name a folder such as "
            "spaces/Supreme/systematic."
        )
    dirty = read_csv(place / "X_train_dirty.csv")
    files = sorted((place / "X_train_repairs").glob("*.csv"))
    kinds = {column.name: column.kind for column in columns_from(dirty)}
    versions = [_marked(columns_from(read_csv(file), kinds)) for file in files]
    categorical = [name for name, kind in kinds.items() if kind == "categorical"]
    table = IncompleteTable(
        dirty,
        label=_labels(place / "y_train.csv"),
        repairs=Versions(versions),
        prior=prior,
        weights={name: math.sqrt(2.0) for name in categorical},  # plain one-hot, as published
    )
    clean = table.encode(read_csv(place / "X_train_clean.csv"))
    return Space(
        name=place.parent.name,
        table=table,
        X_val=table.encode(read_csv(place / "X_val.csv"))[:n_val],
        y_val=_labels(place / "y_val.csv")[:n_val],
        X_test=table.encode(read_csv(place / "X_test.csv")),
        y_test=_labels(place / "y_test.csv"),
        clean=clean,
        truth=nearest_candidates(table, clean),
        default=table.encode(read_csv(place / "X_train_repairs" / "mean.csv")),
    )


def nearest_candidates(table: IncompleteTable, clean: Floats) -> npt.NDArray[np.int64]:
    """The number of each row's candidate that is nearest to the true row; the first of equals."""
    truth = np.zeros(table.n_rows, dtype=np.int64)
    for row in table.dataset.dirty_rows.tolist():
        gaps = table.dataset.candidates(row) - clean[row]
        truth[row] = np.argmin((gaps**2).sum(axis=1))
    return truth


def _labels(file: Path) -> Labels:
    return np.asarray(read_csv(file).iloc[:, 0].to_numpy())


def _marked(columns: list[Column]) -> list[Column]:
    """A version may leave a category empty: that candidate has no category at all."""
    for column in columns:
        if column.kind == "categorical" and column.missing.any():
            column.values[column.missing] = ABSENT
    return columns
