"""The files of a published space, each of them read once.

A space is a folder with `X_train_dirty.csv`, `X_train_clean.csv`, `y_train.csv`, the same for `val`
and `test`, and `X_train_repairs/*.csv`: every file there is one version of the training table.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.baselines.versions import read_versions
from cpclean.errors import DataError, offenders
from cpclean.intake.reading import read_csv

Labels = npt.NDArray[Any]

NEEDED = ("X_train_dirty", "X_train_clean", "y_train", "X_val", "y_val", "X_test", "y_test")


class SpaceFiles:
    """A folder with a space; a missing file is refused before any is read.

    Parameters
    ----------
    folder : path
        For example `spaces/Supreme/systematic`.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        files = [f"{name}.csv" for name in NEEDED] + ["X_train_repairs/mean.csv"]
        lacking = [name for name in files if not (self.folder / name).is_file()]
        if lacking:
            raise DataError(
                f"{self.folder} is not a space: it has no {offenders(lacking)}. Name a folder such "
                "as spaces/Supreme/systematic."
            )

    def frame(self, name: str) -> Any:
        """A table, such as `X_val`."""
        return read_csv(self.folder / f"{name}.csv")

    def labels(self, name: str) -> Labels:
        """The labels of a table, such as `y_val`."""
        return np.asarray(self.frame(name).iloc[:, 0].to_numpy())

    @cached_property
    def versions(self) -> dict[str, Any]:
        """Every version of the training table, by name; "mean" is the one cleaned by default."""
        return read_versions(self.folder / "X_train_repairs")
