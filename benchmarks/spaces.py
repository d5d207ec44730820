"""The spaces that are measured: the authors' published ones, or generated stand-ins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks import generated
from benchmarks.generated import Floats, Parts
from benchmarks.measure import ROOT
from cpclean import IncompleteDataset

if TYPE_CHECKING:
    import pandas as pd

KINDS = {
    "Supreme": "systematic",
    "Bank": "systematic",
    "Puma": "systematic",
    "BabyProduct": "real",
}
USUAL_FOLDER = ROOT.parent / "shared" / "data"
DECIMALS = 12  # numbers equal to so many decimals count as equal


@dataclass(frozen=True)
class Space:
    """An incomplete dataset, query points, and all candidates in one array."""

    data: IncompleteDataset
    points: Floats
    candidates: Floats  # row after row
    owners: npt.NDArray[np.int64]  # the row of each candidate


@dataclass(frozen=True)
class Source:
    """Where spaces come from; folder None means that they are generated."""

    folder: Path | None
    n_points: int

    def space(self, name: str) -> Space:
        return _space(self.folder, name, self.n_points)


def holds_spaces(folder: Path) -> bool:
    return all((folder / "spaces" / name / kind).is_dir() for name, kind in KINDS.items())


def assembled(parts: Parts) -> Space:
    sizes = [len(one) for one in parts.candidates]
    return Space(
        IncompleteDataset(parts.candidates, parts.labels),
        parts.points,
        np.concatenate(parts.candidates),
        np.repeat(np.arange(len(sizes)), sizes),
    )


@cache
def _space(folder: Path | None, name: str, n_points: int) -> Space:
    if folder is None:
        return assembled(generated.like(name, n_points))
    return assembled(_published(folder / "spaces" / name / KINDS[name], n_points))


def _published(folder: Path, n_points: int) -> Parts:
    """Row i's candidates are row i of every repaired table, distinct vectors only."""
    import pandas as pd

    def table(name: str) -> pd.DataFrame:
        return pd.read_csv(folder / f"{name}.csv")

    dirty, val = table("X_train_dirty"), table("X_val")
    whole = pd.concat([table("X_train_clean"), val, table("X_test")])
    repairs = [
        _encoded(pd.read_csv(path), dirty, whole)
        for path in sorted((folder / "X_train_repairs").glob("*.csv"))
    ]
    return Parts(
        candidates=[_distinct(versions) for versions in np.stack(repairs, axis=1)],
        labels=table("y_train").iloc[:, 0].to_numpy(),
        points=_encoded(val.head(n_points), dirty, whole),
    )


def _encoded(frame: pd.DataFrame, dirty: pd.DataFrame, whole: pd.DataFrame) -> Floats:
    """Numbers scaled by the dirty table's range; categories one-hot, all zeros if unheard of."""
    parts = []
    for name in dirty.columns:
        column: npt.NDArray[Any] = frame[name].to_numpy()
        if dirty[name].dtype.kind in "iuf":
            low, high = dirty[name].min(), dirty[name].max()
            rounded = column.astype(np.float64).round(DECIMALS)
            parts.append(((rounded - low) / ((high - low) or 1.0))[:, None])
        else:
            categories = np.sort(whole[name].dropna().unique().astype(object))
            parts.append((column.astype(object)[:, None] == categories).astype(np.float64))
    return np.hstack(parts)


def _distinct(versions: Floats) -> Floats:
    _, first = np.unique(versions, axis=0, return_index=True)
    return versions[np.sort(first)]
